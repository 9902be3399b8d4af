package generative

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/version"
)

// resampleMagic begins the checkpoint of a Resample: the header of a Diffusion's checkpoint,
// the rows that serve, and the rows of a fit under way.
const resampleMagic = 0x31504d53_52474750 // "PGGRSMP1"

// Save writes the state with the kept rows, even in the middle of a fit or of a generation.
func (g *Resample) Save(w io.Writer) error {
	h := header{Magic: resampleMagic, Width: uint64(g.width)}
	if g.serving != nil {
		h.Served = 1
	}
	if g.fit != nil {
		h.Fit = 1
	}
	if r := g.generation; r != nil {
		h.Generation, h.Occasion, h.First = 1, r.occasion, uint64(r.first)
		r.knobs.describe(&h)
	}
	err := binary.Write(w, binary.LittleEndian, h)
	for _, p := range []*pool{g.serving, g.fit} {
		if err == nil && p != nil {
			err = p.save(w)
		}
	}
	return err
}

func (p *pool) save(w io.Writer) error {
	for _, part := range []any{uint64(len(p.rows)), uint64(len(p.scores)), p.rows, p.scores} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// Load reads what Save wrote for the same settings and shape; g then continues bit for
// bit. After an error g must not be used any further.
func (g *Resample) Load(r io.Reader, _ Rows) (err error) {
	var h header
	switch err := binary.Read(r, binary.LittleEndian, &h); {
	case err != nil:
		return err
	case h.Magic != resampleMagic:
		return version.ErrOther
	case int(h.Width) != g.width:
		return fmt.Errorf("the checkpoint's rows have %d numbers, this generator's %d", h.Width, g.width)
	}
	g.serving, g.fit, g.generation = nil, nil, nil
	if h.Served != 0 {
		if g.serving, err = g.loadPool(r); err != nil {
			return err
		}
	}
	if h.Fit != 0 {
		if g.fit, err = g.loadPool(r); err != nil {
			return err
		}
	}
	if h.Generation == 0 {
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
	for _, n := range []*uint64{&numbers, &scores} {
		if err := binary.Read(r, binary.LittleEndian, n); err != nil {
			return nil, err
		}
	}
	rows, width := numbers/uint64(g.width), uint64(g.width)
	if rows == 0 || rows > uint64(g.config.Rows) || rows*width != numbers || scores != 0 && scores != rows {
		return nil, fmt.Errorf("%d numbers and %d scores are saved, want at most %d rows of %d", numbers, scores, g.config.Rows, g.width)
	}
	p := &pool{rows: make([]float32, numbers)}
	if scores > 0 {
		p.scores = make([]float32, scores)
	}
	for _, part := range [][]float32{p.rows, p.scores} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	return p, nil
}
