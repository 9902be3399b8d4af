package replica

import (
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// LossSums are the losses since the last line, and the latest ones.
type LossSums struct {
	Critic, Actor, QMean mean
	Entropy, Noise       mean
	World                worldSums
	Bonus                mean         // of the batches
	Explorer             explored     // of the agent that explores, where there are two
	Models               []modelLoss  // of relevance functions that learn in steps
	Latest               agent.Losses // Actor is that of the last update which had one
	LatestModel          float64      // of the relevance function that learned last
	LatestFunction       string       // its name; "" before one has learned
	Updates              uint64
	Entries, P90         mean     // per env step, if F is of what an episode has met
	Accuracy             *float64 // of F's network, in its last round; nil: there was none yet
}

// explored are the losses of an explorer.
type explored struct{ Critic, Actor, QMean mean }

// add adds those of an update; the policy is not stepped in each.
func (s *explored) add(l agent.ExplorerLosses) {
	s.Critic.addKnown(l.Critic)
	s.Actor.addKnown(l.Actor)
	s.QMean.addKnown(l.QMean)
}

// take returns the means, with the newest α, and starts again; nil: it has made no update.
func (s *explored) take(alpha float64) *event.ExplorerLosses {
	if s.Critic.N == 0 {
		return nil
	}
	l := &event.ExplorerLosses{Critic: s.Critic.value(), Actor: s.Actor.value(), Alpha: run.Float(alpha), QMean: s.QMean.value()}
	*s = explored{}
	return l
}

// modelLoss is the loss of a relevance function.
type modelLoss struct {
	Name string
	Loss mean
}

// model returns the loss of the relevance function of that name, which it adds if there is none.
func (s *LossSums) model(name string) *mean {
	for i := range s.Models {
		if s.Models[i].Name == name {
			return &s.Models[i].Loss
		}
	}
	s.Models = append(s.Models, modelLoss{Name: name})
	return &s.Models[len(s.Models)-1].Loss
}

// worldSums are the losses of a model of the world.
type worldSums struct{ Observation, Reward, Continue, Dynamics, Representation, Imagined, Replayed mean }

func (s *worldSums) add(w *agent.World) {
	if w == nil {
		return
	}
	s.Observation.add(w.Observation)
	s.Reward.add(w.Reward)
	s.Continue.add(w.Continue)
	s.Dynamics.add(w.Dynamics)
	s.Representation.add(w.Representation)
	s.Imagined.add(w.Imagined)
	s.Replayed.add(w.Replayed)
}

// take returns the means, nil if there are none, and starts again.
func (s *worldSums) take() *event.World {
	if s.Observation.N == 0 {
		return nil
	}
	w := &event.World{
		Observation: s.Observation.value(), Reward: s.Reward.value(), Continue: s.Continue.value(), Dynamics: s.Dynamics.value(), Representation: s.Representation.value(),
		Imagined: s.Imagined.value(), Replayed: s.Replayed.value(),
	}
	*s = worldSums{}
	return w
}

type mean struct {
	Sum float64
	N   int
}

func (m *mean) add(v float64) { m.Sum += v; m.N++ }

// addKnown adds v unless it is NaN, for numbers that not every learner has.
func (m *mean) addKnown(v float64) {
	if !math.IsNaN(v) {
		m.add(v)
	}
}

// value returns the mean, or nil if there was nothing to average: what was not computed is
// missing, never zero.
func (m *mean) value() *run.Float {
	if m.N == 0 {
		return nil
	}
	v := run.Float(m.Sum / float64(m.N))
	return &v
}

func (s *LossSums) add(l agent.Losses, acted bool) {
	s.Critic.addKnown(l.Critic)
	s.QMean.addKnown(l.QMean)
	s.Entropy.addKnown(l.Entropy)
	s.Noise.addKnown(l.Noise)
	s.Explorer.add(l.Explorer)
	s.World.add(l.World)
	l.World = nil // the learner's memory
	if acted {
		s.Actor.addKnown(l.Actor)
	} else {
		l.Actor, l.Explorer.Actor = s.Latest.Actor, s.Latest.Explorer.Actor
	}
	s.Latest = l
	s.Updates++
}

func (s *LossSums) addModel(name string, loss float64) {
	s.model(name).add(loss)
	s.LatestModel, s.LatestFunction = loss, name
}

// addFamiliarity adds what F reported about an env step.
func (s *LossSums) addFamiliarity(f relevance.Familiarity) {
	if math.IsNaN(f.P90) {
		return
	}
	s.Entries.add(f.Entries)
	s.P90.add(f.P90)
	s.Accuracy = &f.Accuracy
}

// takeEpisodes returns the means of what F reported about env steps since the last call; nil if it
// reported nothing.
func (s *LossSums) takeEpisodes() *event.Episodes {
	if s.P90.N == 0 {
		return nil
	}
	means := &event.Episodes{Entries: s.Entries.value(), P90: s.P90.value()}
	if s.Accuracy != nil && !math.IsNaN(*s.Accuracy) {
		accuracy := run.Float(*s.Accuracy)
		means.Accuracy = &accuracy
	}
	s.Entries, s.P90 = mean{}, mean{}
	return means
}

// take returns the means and starts again; some says whether there were any.
func (s *LossSums) take() (l event.Losses, some bool) {
	l = event.Losses{Critic: s.Critic.value(), Actor: s.Actor.value(), QMean: s.QMean.value(), Entropy: s.Entropy.value(), Noise: s.Noise.value(), Bonus: s.Bonus.value()}
	for _, m := range s.Models {
		setModel(&l, m.Name, m.Loss.value())
		some = some || m.Loss.N > 0
	}
	l.Explorer = s.Explorer.take(s.Latest.Explorer.Alpha)
	l.Episodes, l.World = s.takeEpisodes(), s.World.take()
	some = some || s.Critic.N+s.Actor.N+s.Bonus.N > 0 || l.Episodes != nil // these are measured without updates too
	if s.Critic.N > 0 && !math.IsNaN(s.Latest.AlphaValue) {
		alpha := run.Float(s.Latest.AlphaValue)
		l.Alpha = &alpha
	}
	s.Critic, s.Actor, s.QMean, s.Entropy, s.Noise, s.Bonus = mean{}, mean{}, mean{}, mean{}, mean{}, mean{}
	for i := range s.Models {
		s.Models[i].Loss = mean{}
	}
	return l, some
}

// setModel sets the loss of a relevance function; nil: it made no update.
func setModel(l *event.Losses, name string, loss *run.Float) {
	switch {
	case name == "curiosity":
		l.Curiosity = loss
	case name == "rnd":
		l.RND = loss
	case loss != nil:
		if l.Models == nil {
			l.Models = map[string]run.Float{}
		}
		l.Models[name] = *loss
	}
}

// Last returns the losses of the latest update, or nil before the first one.
func (s *LossSums) Last() *event.UpdateLosses {
	if s.Updates == 0 {
		return nil
	}
	l := &event.UpdateLosses{
		Critic: s.Latest.Critic, Actor: s.Latest.Actor, Alpha: s.Latest.AlphaValue, QMean: s.Latest.QMean, Noise: s.Latest.Noise, Model: math.NaN(),
	}
	if e := s.Latest.Explorer; e.Critic != 0 && !math.IsNaN(e.Critic) { // 0 in checkpoints without it
		l.Explorer = &event.ExplorerUpdate{Critic: e.Critic, Actor: e.Actor, Alpha: e.Alpha, QMean: e.QMean}
	}
	if s.LatestFunction != "" {
		l.Model, l.Function = s.LatestModel, s.LatestFunction
	}
	return l
}
