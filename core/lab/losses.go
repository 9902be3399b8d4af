package lab

import (
	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/run"
)

// sums are the losses since the last line, and the latest ones.
type sums struct {
	Critic, Actor, QMean, Model, RND mean
	Bonus                            mean         // of the batches
	Latest                           agent.Losses // Actor is that of the last update which had one
	LatestModel                      float64
	Updates                          uint64
}

type mean struct {
	Sum float64
	N   int
}

func (m *mean) add(v float64) { m.Sum += v; m.N++ }

// value is the mean, or nil where there was nothing to average: what was not
// computed is missing, never zero.
func (m *mean) value() *run.Float {
	if m.N == 0 {
		return nil
	}
	v := run.Float(m.Sum / float64(m.N))
	return &v
}

func (s *sums) add(l agent.Losses, acted bool) {
	s.Critic.add(l.Critic)
	s.QMean.add(l.QMean)
	if acted {
		s.Actor.add(l.Actor)
	} else {
		l.Actor = s.Latest.Actor
	}
	s.Latest = l
	s.Updates++
}

func (s *sums) addModel(name string, loss float64) {
	if name == relevanceRND {
		s.RND.add(loss)
		return
	}
	s.Model.add(loss)
	s.LatestModel = loss
}

// take returns the means and starts anew; some says whether there were any.
func (s *sums) take() (l event.Losses, some bool) {
	some = s.Critic.N+s.Model.N+s.RND.N > 0
	l = event.Losses{Critic: s.Critic.value(), Actor: s.Actor.value(), QMean: s.QMean.value(), Curiosity: s.Model.value(), RND: s.RND.value(), Bonus: s.Bonus.value()}
	if s.Critic.N > 0 {
		alpha := run.Float(s.Latest.AlphaValue)
		l.Alpha = &alpha
	}
	s.Critic, s.Actor, s.QMean, s.Model, s.RND, s.Bonus = mean{}, mean{}, mean{}, mean{}, mean{}, mean{}
	return l, some
}

// last is the latest update's, or nil before the first one.
func (s *sums) last() *event.UpdateLosses {
	if s.Updates == 0 {
		return nil
	}
	return &event.UpdateLosses{
		Critic: s.Latest.Critic, Actor: s.Latest.Actor, Alpha: s.Latest.AlphaValue, QMean: s.Latest.QMean, Curiosity: s.LatestModel,
	}
}
