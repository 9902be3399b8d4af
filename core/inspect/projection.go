package inspect

import (
	"errors"
	"math"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/run"
)

// fittedRows is how many rows the fits of a Gaussian and of a projection take between two
// pauses.
const fittedRows = analysis.PieceRows

// gaussian samples rows of a Gaussian fitted to the real ones, and simulates them.
func (e *examiner) gaussian(rows int) (analysis.Simulated, error) {
	width := e.Real.Shape().Width() - 1
	var real [][]float32
	for _, slot := range e.Real.Spread(rows) {
		real = append(real, e.Real.Row(slot))
	}
	fitted, err := analysis.FitGaussian(real, width, e.yield)
	if errors.Is(err, analysis.ErrSingular) {
		return analysis.Simulated{}, nil // too few or too narrow rows: there is nothing to compare with
	}
	if err != nil {
		return analysis.Simulated{}, err
	}
	var sampled []float32
	normal, s := make([]float32, width), e.Stream.Sub("gaussian")
	for i := range rows {
		s.FillNormal(normal, uint64(i), 0)
		sampled = append(append(sampled, fitted.Sample(normal)...), 0)
		if (i+1)%fittedRows == 0 {
			if err := e.yield(); err != nil {
				return analysis.Simulated{}, err
			}
		}
	}
	return e.simulate(sampled)
}

// project samples with and without guidance and projects both into one plane.
func (e *examiner) project() (*event.Projected, error) {
	k := e.Settings.Generation()
	k.Samples = e.Points
	guided, err := e.sketch(k)
	if err != nil {
		return nil, err
	}
	k.Guidance, k.TopFraction = 0, 1 // kinds without guidance ask for all of F instead
	free, err := e.sketch(k)
	if err != nil {
		return nil, err
	}
	var real [][]float32
	for _, slot := range e.Real.Spread(e.Points) {
		real = append(real, e.Real.Row(slot))
	}
	all := append(append(append([][]float32(nil), real...), guided...), free...)
	p, err := analysis.PCA(all, e.Real.Shape().Width()-1, e.yield)
	if err != nil {
		return nil, err
	}
	out := &event.Projected{Explained: [2]run.Float{run.Float(p.Explained[0]), run.Float(p.Explained[1])}}
	lay := func(rows [][]float32) (at [][2]float64) {
		for _, row := range rows {
			at = append(at, p.At(row))
		}
		return at
	}
	a, b := lay(guided), lay(free)
	out.Real, out.Guided, out.Free = shown(lay(real)), shown(a), shown(b)
	out.Overlap = run.Float(analysis.Overlap(a, b, 12))
	if e.Embed {
		out.Embedded, err = e.embed(guided[:min(len(guided), MaxEmbedded)], free[:min(len(free), MaxEmbedded)])
	}
	return out, err
}

func (e *examiner) embed(guided, free [][]float32) (*event.Embedded, error) {
	both := append(append([][]float32(nil), guided...), free...)
	at, err := analysis.Embed(both, e.Real.Shape().Width()-1, e.yield)
	if err != nil {
		return nil, err
	}
	return &event.Embedded{Guided: shown(at[:len(guided)]), Free: shown(at[len(guided):])}, nil
}

// shown rounds points to four decimals: no picture shows more, and a journal holds
// thousands of points.
func shown(points [][2]float64) (out [][2]run.Float) {
	round := func(v float64) run.Float { return run.Float(math.Round(v*1e4) / 1e4) }
	for _, p := range points {
		out = append(out, [2]run.Float{round(p[0]), round(p[1])})
	}
	return out
}

// examined is the occasion of an examination's sketches. The occasions of previews count
// from 1.
const examined = 0

func (e *examiner) sketch(k generative.GenKnobs) (points [][]float32, err error) {
	next, err := e.Gen.Sketch(k, examined)
	if err != nil {
		return nil, err
	}
	width := e.Real.Shape().Width()
	for done, total := 0, 1; done < total; {
		var rows []float32
		if rows, done, total, err = next(); err != nil {
			return nil, err
		}
		for ; len(rows) > 0; rows = rows[width:] {
			points = append(points, append([]float32(nil), rows[:width]...))
		}
		if err := e.yield(); err != nil {
			return nil, err
		}
	}
	return points, nil
}
