package lab

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/relevance"
	"pgrlab/core/replica"
)

// showMap answers a Map. While the latents of D_real and D_syn come from two encoders, the last answer
// stays if it has the same dimensions.
func (a *asides) showMap(c event.Map) {
	out := &event.Mapped{X: c.X, Y: c.Y, Step: a.place.Step}
	err := a.gate.absent()
	if err == nil {
		last := a.mapped
		if err = a.apart(); err != nil && last != nil && last.Unknown == "" && last.X == c.X && last.Y == c.Y {
			return
		}
	}
	if err == nil {
		err = a.place.guarded(func() error {
			found, err := inspect.Map(a.views.of(a.members[0]), c.X, c.Y)
			out = found
			return err
		})
	}
	if err != nil {
		out.Unknown = err.Error()
	}
	a.mapped = out
}

// showMoment answers a Watch.
func (a *asides) showMoment() {
	m, copies := a.members[0], a.views.config.Environment.InLockstep()
	defer func() {
		a.moment.Seen, a.moment.Side = m.Observed.Looks()
		if m.Agent.Crops != nil {
			for _, c := range m.Agent.Crops() {
				a.moment.Crops = append(a.moment.Crops, event.Crop(c))
			}
		}
		if m.Agent.Chances != nil {
			chances, v := m.Agent.Chances()
			a.moment.Chances, a.moment.V = slices.Clone(chances), v
		}
		a.showMemory(m)
		a.moment.Course = m.Observed.Course()
	}()
	if a.gate.absent() != nil || m.Parts.Fills { // what is computed is about observations
		a.moment = inspect.Moment(inspect.View{Step: a.place.Step}, copies, m.World.Acted(), nil)
		return
	}
	var value func(dst, obs []float32, rows int) error
	if m.Agent.Values != nil && m.Updates > 0 {
		value = m.Agent.Values.Q
	}
	// What cannot be computed stays unknown: no one asked for an error.
	a.moment = inspect.Moment(inspect.View{Step: a.place.Step}, copies, m.World.Acted(), nil)
	_ = a.place.guarded(func() error {
		a.moment = inspect.Moment(a.views.of(m), copies, m.World.Acted(), value)
		return nil
	})
}

// showMemory adds to the moment what a member remembers of its episode, and the episode's
// counters.
func (a *asides) showMemory(m *replica.Replica) {
	if !m.Rounds.Remember() {
		return
	}
	now, c := a.moment, m.World.Counters[0]
	now.Episode, now.EpisodeStep, now.EpisodeReturn, now.Pose = c.Number(len(m.World.Counters)), c.Step, c.Return, m.World.Pose()
	err := a.gate.absent()
	if err == nil {
		err = a.place.guarded(func() (err error) { now.Memory, err = m.Rounds.Recall(); return err })
	}
	if err != nil {
		now.Memory = &event.Memory{P90: math.NaN(), Unknown: err.Error()}
	}
}

// errRefitting answers what compares D_real with D_syn while their latents come from two encoders.
var errRefitting = errors.New("a refit is under way: there is more to see after it")

// apart returns why the latents of D_real and D_syn come from two encoders now, or nil: a new D_real
// comes before the D_syn that is generated from it, and stays if its refit is given up. Rows that are
// no latents have one meaning at all times.
func (a *asides) apart() error {
	if a.views.config.Fills() && a.place.refitting() {
		return errRefitting
	}
	return a.givenUp()
}

// givenUp is apart when the phases of a refit are over.
func (a *asides) givenUp() error {
	m, made := a.members[0], a.views.synthesis
	switch {
	case !a.views.config.Fills() || m.Synthetic == nil:
		return nil
	case made.FittedTo == 0 || m.Synthetic.Len() == 0:
		return nil
	case made.FittedTo != m.Real.Total() || !made.Asked.Known:
		return errors.New("a refit was given up after its new D_real: there is more to see after the next one")
	}
	return nil
}

// showDreams answers a Dreams. While the latents of D_real and D_syn come from two encoders, the
// last answer stays.
func (a *asides) showDreams(c event.Dreams) {
	err := a.gate.absent()
	if a.dreams.Frames = (relevance.Frames{}); a.views.config.Fills() {
		a.dreams.Frames = a.views.config.Sight()
	}
	if err == nil {
		if err = a.apart(); err != nil && a.dreamt != nil && a.dreamt.Unknown == "" {
			return
		}
	}
	if err == nil {
		err = a.place.guarded(func() error {
			found, err := a.dreams.Look(a.views.of(a.members[0]), c.Rows)
			if err == nil {
				a.dreamt = found
			}
			return err
		})
	}
	if err != nil {
		a.dreamt = &event.Dreamt{Step: a.place.Step, Unknown: err.Error()}
	}
}

// subject provides what a preview asks of a member and of its run.
type subject struct {
	*replica.Functions
	member *replica.Replica
	*asides
	show func()
}

func (s subject) Show() { s.show() }

func (s subject) Learned(name string) bool { return s.Built(name) }

func (s subject) NextRefit() int {
	if s.place.refitting() {
		return s.place.Step
	}
	return nextRefit(s.views.config, s.views.settings, s.place.Step)
}

func (s subject) RefitTakes(name string, row, unit time.Duration) time.Duration {
	settings := *s.views.settings
	settings.Relevance = name
	u := s.meter.Units(&settings, cost.Batches{}, 0)
	u.Score, u.Warm = cmp.Or(row.Seconds(), u.Score), cmp.Or(unit.Seconds(), u.Warm)
	return refitTakes(u, &settings, s.member)
}

func (s subject) Now() time.Time { return s.now() }
