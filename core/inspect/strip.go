package inspect

import (
	"math"
	"slices"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
)

const (
	// doseRows is how many transitions are made with each value.
	doseRows = 128
	// doses is the number of values of a strip.
	doses = 5
)

// Strips keep the strip of the knob that was previewed last, until Forget.
type Strips struct{ last *strip }

// Forget drops what is kept: the generator makes other transitions now.
func (s *Strips) Forget() { s.last = nil }

// strip is what a generator makes with values of one knob, all from the same noise: differences of the
// values are not hidden behind other draws.
type strip struct {
	knob     string
	rest     generative.GenKnobs // the other knobs of a generation
	f        string              // the relevance
	occasion uint64              // of the noise
	made     map[string]column   // by value
	bounds   *analysis.Bounds    // of the real rows; nil: not taken yet
	ref      *analysis.Reference // nil: not taken yet
}

// column is what was made with one value.
type column struct {
	rows                   []float32
	outside, state, reward float64
}

// of is the strip of a knob under settings with any value of it.
func (s *Strips) of(k knob.Knob, settings *knob.Settings, occasion uint64) *strip {
	rest := *settings
	if k.Kind != knob.KindChoice {
		k.Set(&rest, knob.Number(k.Max))
	}
	if l := s.last; l == nil || l.knob != k.Name || l.rest != rest.Generation() || l.f != settings.Relevance {
		s.last = &strip{knob: k.Name, rest: rest.Generation(), f: settings.Relevance, occasion: occasion, made: map[string]column{}}
	}
	return s.last
}

// dosesOf are the values to make rows with: what is asked, what is in force, and the others from the
// nearest one on.
func dosesOf(k knob.Knob, now, asked knob.Value) []knob.Value {
	all := k.Around(now, asked, doses)
	if all == nil {
		return []knob.Value{asked}
	}
	away := func(v knob.Value) float64 {
		switch v {
		case asked:
			return -2
		case now:
			return -1
		}
		return math.Abs(v.Number - now.Number)
	}
	slices.SortStableFunc(all, func(a, b knob.Value) int { return int(math.Copysign(1, away(a)-away(b))) })
	return all
}

// fill makes the rows that are still unknown, one value after the other, and shows what is known after
// each; first is called when those of the value that was asked are there.
func (p *preview) fill(first func() error) error {
	for i, v := range p.doses {
		name := p.knob.Format(v)
		if _, made := p.strip.made[name]; !made {
			c, err := p.column(v)
			if err != nil {
				return err
			}
			p.strip.made[name] = c
		}
		if i == 0 {
			if err := first(); err != nil {
				return err
			}
		}
		if err := p.tell(); err != nil {
			return err
		}
		if p.More = i+1 < len(p.doses); p.More {
			p.Show()
		}
	}
	return nil
}

// tell lists what is known of the values. F is computed now for all rows: it may have learned since
// they were made.
func (p *preview) tell() error {
	var all []event.Dose
	for _, v := range slices.SortedFunc(slices.Values(p.doses), func(a, b knob.Value) int { return int(math.Copysign(1, a.Number-b.Number)) }) {
		c, made := p.strip.made[p.knob.Format(v)]
		if !made {
			continue
		}
		d := event.Dose{Value: p.knob.Format(v), Rows: len(c.rows) / p.View.Real.Shape().Width(), Median: math.NaN(), Q90: math.NaN(), Outside: c.outside, State: c.state, Reward: c.reward}
		f, err := p.relevanceOf(c.rows)
		if err != nil {
			return err
		}
		if f != nil {
			s := analysis.Summarise(f)
			d.Median, d.Q90 = s.Median, s.Q90
		}
		all = append(all, d)
	}
	p.Doses = all
	return p.yield()
}

// column makes transitions with a value, one network call at a time, and holds them to the real ones
// and to the task.
func (p *preview) column(v knob.Value) (c column, err error) {
	settings := p.settings
	p.knob.Set(&settings, v)
	if c.rows, err = p.sketch(settings); err != nil {
		return c, err
	}
	shape := p.View.Real.Shape()
	width := shape.Width()
	if err := p.bound(); err != nil {
		return c, err
	}
	out := 0
	for rows := c.rows; len(rows) > 0; rows = rows[width:] {
		if p.strip.bounds.Outside(rows, 0, width-1) {
			out++
		}
	}
	c.outside, c.state, c.reward = float64(out)/float64(len(c.rows)/width), math.NaN(), math.NaN()
	e := &examiner{View: p.View, yield: p.yield}
	predicted, err := e.simulate(c.rows)
	if err != nil || predicted.Rows(shape) == 0 {
		return c, err
	}
	if p.strip.ref == nil {
		slots := p.View.Real.Spread(min(boundRows, p.View.Real.Len()))
		ref := analysis.NewReference(shape, len(slots), func(i int) []float32 { return p.View.Real.Row(slots[i]) })
		p.strip.ref = &ref
		if err := p.yield(); err != nil {
			return c, err
		}
	}
	off := predicted.Error(shape, *p.strip.ref)
	c.state, c.reward = off.Relative, off.RewardRelative
	return c, nil
}

// sketch generates a few transitions with settings.
func (p *preview) sketch(settings knob.Settings) (all []float32, err error) {
	k := settings.Generation()
	k.Samples = doseRows
	if settings.Relevance == none {
		k.Guidance, k.TopFraction = 0, 1 // as a generator fitted without a condition; kinds without guidance ask for all of F
	}
	next, err := p.Gen.Sketch(k, p.strip.occasion)
	if err != nil {
		return nil, err
	}
	for done, total := 0, 1; done < total; {
		var rows []float32
		if rows, done, total, err = next(); err != nil {
			return nil, err
		}
		all = append(all, rows...)
		if err := p.yield(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// bound takes the range of the real transitions.
func (p *preview) bound() error {
	if p.strip.bounds != nil {
		return nil
	}
	bounds := analysis.NewBounds(p.View.Real.Shape().Width() - 1)
	for i := range p.View.Real.Len() {
		bounds.Add(p.View.Real.Row(i))
		if (i+1)%boundRows == 0 {
			if err := p.yield(); err != nil {
				return err
			}
		}
	}
	p.strip.bounds = &bounds
	return p.yield()
}
