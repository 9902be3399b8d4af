package generative

import (
	"errors"
	"fmt"
	"io"

	"pgrlab/core/plan"
)

// Save writes the state with the kept rows, even in the middle of a fit or of a generation: the header of a
// Diffusion's checkpoint, the rows that serve, and the rows of a fit under way.
func (g *Resample) Save(w io.Writer) error {
	h := header{Width: uint64(g.width), Served: g.serving != nil, Fit: g.fit != nil}
	if r := g.generation; r != nil {
		h.generates(r.knobs, r.occasion, r.first)
	}
	parts := []any{h}
	for _, p := range []*pool{g.serving, g.fit} {
		if p != nil {
			parts = append(parts, uint64(len(p.rows)), uint64(len(p.scores)), p.rows, p.scores)
		}
	}
	return plan.SaveAll(w, parts...)
}

// Load reads what Save wrote for the same settings and shape; g then continues bit for
// bit. After an error g must not be used any further.
func (g *Resample) Load(r io.Reader, _ Rows) error {
	h, _, err := readHeader(r, g.width, g.chunk)
	if err != nil {
		return err
	}
	g.serving, g.fit, g.generation = nil, nil, nil
	if h.Served {
		if g.serving, err = g.loadPool(r); err != nil {
			return err
		}
	}
	if h.Fit {
		if g.fit, err = g.loadPool(r); err != nil {
			return err
		}
	}
	if !h.Generation {
		return nil
	}
	if g.generation, err = g.redraw(h.knobs(), h.Occasion, g.stream); err != nil {
		return err
	}
	if h.First >= h.Samples || int(h.First)%g.chunk != 0 {
		return errors.New("the generation under way does not fit the rest")
	}
	g.generation.first = int(h.First)
	return nil
}

func (g *Resample) loadPool(r io.Reader) (*pool, error) {
	var numbers, scores uint64
	if err := plan.LoadAll(r, &numbers, &scores); err != nil {
		return nil, err
	}
	rows, width := numbers/uint64(g.width), uint64(g.width)
	if rows == 0 || rows > uint64(g.config.Rows) || rows*width != numbers || scores != 0 && scores != rows {
		return nil, fmt.Errorf("%d numbers and %d scores are saved, want at most %d rows of %d", numbers, scores, g.config.Rows, g.width)
	}
	p := &pool{rows: make([]float32, numbers)}
	if scores > 0 {
		p.scores = make([]float32, scores)
	}
	return p, plan.LoadAll(r, p.rows, p.scores)
}
