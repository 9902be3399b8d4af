package lab

import (
	"errors"
	"math"
	"slices"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/ground"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// probing is a Ground under way.
type probing struct {
	*replica.Ground
	number int
	step   int
	by     string
	begun  time.Time
	past   ground.Evidence // the evaluations
}

// beginGround begins a Ground, or refuses it.
func (a *asides) beginGround(c event.Ground) {
	refuse := func(err error) { a.journal.refuse("", event.TypeGround, "", c.By, err) }
	p, err := a.newProbing(c.By)
	if err != nil {
		refuse(err)
		return
	}
	a.probing = p
	a.probe = newAside(p.Pieces(), func(err error) {
		a.probing = nil
		if err != nil {
			refuse(err)
			return
		}
		a.journal.emit(event.TypeGround, event.NoMember, p.found(a.now()))
	})
}

// newProbing takes what a Ground needs of the run as it is.
func (a *asides) newProbing(by string) (*probing, error) {
	if err := a.config.CheckGround(); err != nil {
		return nil, err
	}
	m := a.members[0]
	switch {
	case a.gate.absent() != nil:
		return nil, a.gate.absent()
	case a.probe != nil:
		return nil, errors.New("ground: one is under way: wait for it, or leave it")
	case m.Updates == 0:
		return nil, errors.New("ground: the agent has not learned yet: wait for its first updates")
	}
	p := &probing{number: 1, step: a.place.Step, by: by, begun: a.now()}
	for _, e := range a.past() {
		switch b := e.Body.(type) {
		case event.Grounded:
			p.number = max(p.number, b.Number+1)
		case event.Evaluated:
			p.past.Evaluations = append(p.past.Evaluations, numbers(b.Returns))
		}
	}
	err := a.place.guarded(func() (err error) {
		now := replica.Now{Step: a.place.Step, Settings: a.views.settings}
		p.Ground, err = m.NewGround(now, uint64(p.number), uint64(a.place.Step/a.config.Evaluation.Every))
		return err
	})
	return p, err
}

// leaveGround ends a Ground without an answer but that it was left.
func (a *asides) leaveGround(c event.LeaveGround) {
	end(&a.probe, errors.New(event.LeftGround))
}

// grounding is the state of a Ground, for a snapshot; nil: none is under way.
func (a *asides) grounding() *event.Grounding {
	p := a.probing
	if p == nil {
		return nil
	}
	g := &event.Grounding{Step: p.step, By: p.by, Neighbours: slices.Clone(p.Neighbours)}
	g.Episodes, g.Of = p.Episodes()
	if g.Episodes > 0 {
		each := float64(a.now().Sub(p.begun)) / float64(g.Episodes)
		g.Left = time.Duration(each * float64(g.Of-g.Episodes))
	}
	return g
}

// found is the answer.
func (p *probing) found(now time.Time) event.Grounded {
	e := p.past
	e.Present, e.Neighbours = p.Present, p.Neighbours
	r := ground.Read(e)
	return event.Grounded{
		Number: p.number, At: p.step, Word: r.Word, Return: run.Float(r.Return), Returns: run.Floats(p.Present), Neighbours: run.Floats(p.Neighbours),
		Usual: run.Float(r.Usual), Level: known(r.Level), Last: known(r.Last), Least: known(r.Least), More: r.More, Count: r.Count, Low: run.Float(r.Low), High: run.Float(r.High),
		By: p.by, Seconds: run.Float(now.Sub(p.begun).Seconds()),
	}
}

// known is nil for NaN.
func known(v float64) *run.Float {
	if math.IsNaN(v) {
		return nil
	}
	return new(run.Float(v))
}

func numbers(all []run.Float) []float64 {
	out := make([]float64, len(all))
	for i, v := range all {
		out[i] = float64(v)
	}
	return out
}
