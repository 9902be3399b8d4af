package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
)

const (
	// previewRows is how many transitions a preview makes.
	previewRows = 256
	// previewShare is how long a preview may hold up training between two slices of
	// it. Commands are obeyed between the preview's own slices too.
	previewShare = 200 * time.Millisecond
	// boundRows is how many real transitions a slice looks at for their bounds.
	boundRows = 16_384
)

// preview is one under way. Its work is a list of slices that read the run and write
// to the preview alone; nothing of a run depends on how far it is.
type preview struct {
	event.Previewed
	sender   string
	began    time.Time
	occasion uint64
	settings knob.Settings // with the value

	member    *member
	f         score // of the histograms
	real, syn []float32
	bounds    analysis.Bounds
	bounded   int // real transitions that are in the bounds
	rows      []float32
	next      func() (rows []float32, done, total int, err error)
	slices    []func() (done bool, err error)
	release   func() // what was built for it; nil: nothing
}

// score is relevance.Function without its name.
type score interface {
	Score(dst []float32, b *replay.Batch, rows int) error
}

// errPreviewing answers a preview while that of another sender is under way, which would
// wait for ever for its own if it were dropped.
var errPreviewing = errors.New("a preview of another screen is under way: ask again when it is done")

// preview begins a preview, or answers why there is none.
func (x *experiment) preview(c event.Preview) {
	if p := x.previewing; p != nil && p.sender != c.Sender() {
		x.emit(event.TypePreviewed, p.member.index, event.Previewed{
			ID: c.ID, Knob: c.Knob, Value: c.Value, Outside: math.NaN(), RankCorrelation: math.NaN(), TopOverlap: math.NaN(), CostSeconds: math.NaN(),
			Err: errPreviewing.Error(), Busy: true,
		})
		return
	}
	x.dropPreview()
	x.previews++
	p := &preview{
		Previewed: event.Previewed{ID: c.ID, Knob: c.Knob, Value: c.Value, Outside: math.NaN(), RankCorrelation: math.NaN(), TopOverlap: math.NaN(), CostSeconds: math.NaN()},
		sender:    c.Sender(), began: x.now(), occasion: x.previews, settings: x.Settings, member: x.first(),
	}
	x.previewing = p
	k, v, err := x.check(c.Knob, c.Value)
	if x.position.Phase == knob.Analyse || x.looking != nil {
		err = errAnalysing
	}
	if why := x.absent(); why != nil {
		err = why
	}
	if err == nil {
		p.Value = k.Format(v)
		k.Set(&p.settings, v)
		err = x.planPreview(p, k)
	}
	if err != nil {
		x.answerPreview(err)
	}
}

// planPreview lists the slices of a preview.
func (x *experiment) planPreview(p *preview, k knob.Knob) error {
	now, then := x.Settings.Relevance, p.settings.Relevance
	switch k.Name {
	case "relevance":
		if then != relevanceNone && !p.member.built(then) {
			p.Relevance = then
			p.slices = append(p.slices, func() (bool, error) { return true, x.priceOf(p, then) })
			return nil
		}
		x.priceBuilt(p, then)
	case "guidance", "top_fraction", "sampler_steps", "s_churn":
		if k.Use&knob.UsePrompts != 0 && now == relevanceNone {
			return fmt.Errorf("%s has no effect while relevance is none", k.Name)
		}
		if !x.Fitted {
			return fmt.Errorf("no generator is fitted before step %s", knob.FormatCount(x.nextRefit()))
		}
	default:
		return fmt.Errorf("%s does not change what the present generator makes: guidance, top_fraction, sampler_steps, s_churn and relevance can be previewed", k.Name)
	}
	if p.member.real.Len() == 0 {
		return errors.New("there are no transitions yet")
	}
	p.Relevance = then
	if then == relevanceNone {
		p.Relevance = now // what becomes of the old F without a condition
	}
	if p.Relevance != relevanceNone {
		if err := x.planScores(p, now); err != nil {
			return err
		}
	}
	if x.Fitted {
		x.planSketch(p)
	}
	return nil
}

// planScores lists the slices that score real and synthetic transitions.
func (x *experiment) planScores(p *preview, now string) error {
	f, err := x.parts.function(p.Relevance, p.member)
	if err != nil {
		return err
	}
	p.f = f
	m, draw := p.member, p.member.streams.preview.At(p.occasion)
	p.slices = append(p.slices, func() (bool, error) {
		slots := sampleSlots(m.real, draw.IntN)
		if p.real, err = m.scoresOf(p.f, m.real, slots); err != nil || p.Relevance == now || now == relevanceNone {
			return true, err
		}
		old, err := m.scoresOf(m.f, m.real, slots)
		if err == nil {
			p.RankCorrelation = analysis.Spearman(old, p.real)
			p.TopOverlap = analysis.TopOverlap(old, p.real, p.settings.TopFraction)
		}
		return true, err
	})
	if x.hasSynthetic() {
		p.slices = append(p.slices, func() (bool, error) {
			p.syn, err = m.scoresOf(p.f, m.synthetic, sampleSlots(m.synthetic, draw.IntN))
			return true, err
		})
	}
	return nil
}

// planSketch lists the slices that make transitions and compare them with the real
// ones.
func (x *experiment) planSketch(p *preview) {
	shape := p.member.real.Shape()
	width := shape.Width() - 1
	p.bounds = analysis.NewBounds(width)
	p.slices = append(p.slices,
		func() (bool, error) { return p.sketch() },
		func() (bool, error) {
			end := min(p.bounded+boundRows, p.member.real.Len())
			for ; p.bounded < end; p.bounded++ {
				p.bounds.Add(p.member.real.Row(p.bounded))
			}
			return p.bounded == p.member.real.Len(), nil
		},
		func() (bool, error) {
			outside := 0
			for rows := p.rows; len(rows) > 0; rows = rows[shape.Width():] {
				if p.bounds.Outside(rows, 0, width) {
					outside++
				}
				p.Samples++
			}
			p.Outside = float64(outside) / float64(p.Samples)
			return true, nil
		})
}

// sketch makes one network call.
func (p *preview) sketch() (done bool, err error) {
	if p.next == nil {
		k := generation(&p.settings)
		k.Samples = previewRows
		if p.settings.Relevance == relevanceNone {
			k.Guidance = 0 // the generator that training without a condition would give
		}
		if p.next, err = p.member.gen.Sketch(k, p.occasion); err != nil {
			return false, err
		}
	}
	rows, n, total, err := p.next()
	p.rows = append(p.rows, rows...)
	return n == total, err
}

// restartPreview makes a preview's transitions anew where a fit was completed
// meanwhile: they would be of two generators.
func (x *experiment) restartPreview() {
	if p := x.previewing; p != nil {
		x.preview(event.Preview{ID: p.ID, Knob: p.Knob, Value: p.Value})
	}
}

// advancePreview makes one slice of the preview under way; more says whether another
// one may follow before training goes on, which began to wait at since.
func (x *experiment) advancePreview(ctx context.Context, since time.Time) (more bool) {
	p := x.previewing
	if p == nil || ctx.Err() != nil {
		return false
	}
	begin := x.now()
	complete := false
	err := x.guarded(func() (err error) { complete, err = p.advance(); return err })
	if err != nil || complete {
		x.answerPreview(err)
	}
	now := x.now()
	x.meter.elsewhere(now.Sub(begin))
	return x.waits(ctx) || now.Sub(since) < previewShare
}

// advance makes one slice; complete says that it was the last one.
func (p *preview) advance() (complete bool, err error) {
	if len(p.slices) == 0 {
		return true, p.describe()
	}
	done, err := p.slices[0]()
	if done {
		p.slices = p.slices[1:]
	}
	return false, err
}

// describe makes the histograms.
func (p *preview) describe() error {
	if p.real == nil {
		return nil
	}
	var made []float32
	if p.Samples > 0 {
		shape := p.member.real.Shape()
		batch := replay.NewBatch(shape, p.Samples)
		for i := range p.Samples {
			batch.Put(i, shape, p.rows[i*shape.Width():])
		}
		made = make([]float32, p.Samples)
		if err := p.f.Score(made, batch, p.Samples); err != nil {
			return err
		}
	}
	edges := analysis.BodyEdges(event.Bins, p.real, p.syn, made)
	p.Real = histogram(p.real, edges)
	if p.syn != nil {
		p.Synthetic = histogram(p.syn, edges)
	}
	if made != nil {
		p.Preview = histogram(made, edges)
	}
	return nil
}

// answerPreview ends the preview under way.
func (x *experiment) answerPreview(err error) {
	p := x.previewing
	if p == nil {
		return
	}
	x.dropPreview()
	if err != nil {
		p.Err, p.Busy = err.Error(), errors.Is(err, errAnalysing)
	}
	p.Seconds = x.now().Sub(p.began).Seconds()
	x.emit(event.TypePreviewed, p.member.index, p.Previewed)
}

// dropPreview forgets the preview under way, if there is one.
func (x *experiment) dropPreview() {
	if p := x.previewing; p != nil && p.release != nil {
		p.release()
	}
	x.previewing = nil
}
