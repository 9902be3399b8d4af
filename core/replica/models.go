package replica

import (
	"fmt"
	"slices"

	"pgrlab/core/inspect"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// trainedModels are the relevance functions that make gradient steps while a run goes on, in the
// order in which they make them.
var trainedModels = relevance.NamesOf(relevance.LearnsInSteps)

// learns says whether the function of that name has a model.
func learns(name string) bool {
	s, err := relevance.Find(name)
	return err == nil && s.Learning != relevance.LearnsNothing
}

// modelState are the counters of a trained model.
type modelState struct {
	Name    string
	Updates uint64
	Missed  int  // updates that were due while nothing used it
	Due     bool // an update that is made in parts is due, or under way
	Made    int  // parts of it
}

// stateOf returns the counters of the trained model of that name, which it adds if there are
// none.
func (s *State) stateOf(name string) *modelState {
	for i := range s.Models {
		if s.Models[i].Name == name {
			return &s.Models[i]
		}
	}
	s.Models = append(s.Models, modelState{Name: name})
	return &s.Models[len(s.Models)-1]
}

// Built says whether the replica has what the function of that name needs: no model, or one
// that has learned something, and has not just begun to count again.
func (r *Replica) Built(name string) bool {
	m := r.models[name]
	switch {
	case m == nil:
		return !learns(name)
	case m.Counts != nil:
		return m.Counts.Seen() > 0 && r.Counting != name
	case m.Rounds != nil:
		return m.Rounds.Learned()
	case m.Steps != nil:
		return slices.ContainsFunc(r.Models, func(s modelState) bool { return s.Name == name && s.Updates > 0 })
	}
	return true
}

// usesModel says whether F, a bonus or priorities come from the model of that name.
func (r *Replica) usesModel(now Now, name string) bool {
	return now.Settings.Relevance == name || slices.Contains(r.Config.FixedFunctions(), name)
}

// TrainModels makes one update of each trained model in use that is due after a critic update,
// on a fresh batch of real transitions (line 3 of Algorithm 1, where F learns); last says
// whether the critic update was the last of its env step. With a learner that makes no such
// updates, env steps count instead. If D_real is made again before each refit, updates are missed
// until then, and made up for on the new rows: the old rows are what the learner made of its
// experience at the last refit, and contain nothing since. Models of frames, or of observations,
// need not wait, because these stay what they are. An update that is made in parts only begins to be
// due: see modelParts.
func (r *Replica) TrainModels(now Now, last bool) error {
	updates := r.Updates
	takesBatches := r.Agent.Batches != nil
	if !takesBatches {
		if !last {
			return nil
		}
		updates = uint64(r.envStep(now))
	}
	for _, name := range trainedModels {
		switch {
		case !r.modelDue(name, updates, last):
		case r.usesModel(now, name) && feeds(r, name):
			if partsOf(r, name) > 1 && !takesBatches {
				beginParts(r, name)
			} else if err := r.UpdateModel(name); err != nil {
				return err
			}
		case r.Config.Prompted():
			r.stateOf(name).Missed++
		}
	}
	return nil
}

// feeds says whether a trained model has something to learn from between refits: rows of D_real
// that are kept, or frames.
func feeds(r *Replica, name string) bool {
	if m := r.models[name]; m != nil && m.Sees {
		return r.Enough()
	}
	return r.Real.Len() > 0 && !r.Parts.Fills
}

// modelDue says whether a trained model makes an update after that many critic updates.
func (r *Replica) modelDue(name string, updates uint64, last bool) bool {
	every := r.Config.Relevance.Pace(name).Every
	if every == 0 {
		return last
	}
	return updates%uint64(every) == 0
}

// UpdateModel makes one update of the model of that name, which must be a trained one.
func (r *Replica) UpdateModel(name string) error {
	m := r.models[name]
	if m == nil || m.Steps == nil {
		return fmt.Errorf("train %s: it has no model", name)
	}
	if err := fillModel(r, name, m.Steps.Batch()); err != nil {
		return err
	}
	loss, err := m.Steps.Train()
	return modelUpdated(r, name, loss, err)
}

// fillModel samples the batch of the next update of a trained model.
func fillModel(r *Replica, name string, b *replay.Batch) error {
	s := r.stateOf(name)
	if b.Frames != nil {
		from := r.Observed.frames(r.streams.models.Sub(name))
		if r.Config.Relevance.SkipsRespawns(name) {
			from = from.WithoutRespawns()
		}
		return fill(b, from, s.Updates)
	}
	return r.mixerOf(name).SampleFrom(b, metBy(r, name), s.Updates)
}

// modelUpdated counts an update of a trained model, which ended with that loss or error.
func modelUpdated(r *Replica, name string, loss float64, err error) error {
	r.stateOf(name).Updates++
	if err != nil {
		return r.diverged("train "+name, err)
	}
	r.Losses.addModel(name, loss)
	return nil
}

// mixerOf returns the mixer that samples the batches of a trained model, by its update, from the
// stream of its name.
func (r *Replica) mixerOf(name string) replay.Mixer {
	mixer, ok := r.mixers[name]
	if !ok {
		mixer = replay.NewMixer(r.streams.models.Sub(name))
		if r.Config.Relevance.SkipsRespawns(name) {
			mixer = mixer.WithoutRespawns()
		}
		r.mixers[name] = mixer
	}
	return mixer
}

// Owed is how many units of work the model of that name has to do before the next scoring:
// updates that it missed while another F was chosen, up to a limit, or their parts, or transitions
// to count. Warm does this work.
func (r *Replica) Owed(name string) int {
	switch s, _ := relevance.Find(name); s.Learning {
	case relevance.LearnsInSteps:
		return min(r.stateOf(name).Missed, r.Config.Relevance.Pace(name).Warmup) * partsOf(r, name)
	case relevance.LearnsAnew:
		return r.Real.Len()
	}
	return 0
}

// modelUpdates is how many updates a slice of a trained model's warm-up makes. A
// model that sees makes one, because an update on frames may be 13 GFLOP, or a part of one.
const modelUpdates = 4

// Warm does some of the units that the model of that name owes, from done on, and returns how
// many. If scoring is given up before all are done, the model still owes the rest.
func (r *Replica) Warm(name string, done, owed int) (n int, err error) {
	m := r.models[name]
	if m == nil {
		return 0, fmt.Errorf("train %s: it has no model", name)
	}
	if m.Counts != nil {
		n = min(m.AtOnce(inspect.ScoreRows), owed-done)
		if done == 0 {
			r.Real.Gather(r.scratch, 0, r.Real.Spread(inspect.ScoreRows))
			m.Counts.Begin(r.scratch, min(inspect.ScoreRows, owed))
		}
		if r.Counting = name; done+n >= owed {
			r.Counting = ""
		}
		r.Real.Gather(r.scratch, 0, r.Real.Oldest(done, n))
		return n, m.Counts.Observe(r.scratch, n)
	}
	if partsOf(r, name) > 1 {
		return 1, warmPart(r, name, done, owed)
	}
	n = min(modelUpdates, owed-done)
	if m.Sees {
		n = 1
	}
	for range n {
		if err := r.UpdateModel(name); err != nil {
			return 0, err
		}
	}
	r.stateOf(name).Missed = owed - done - n
	return n, nil
}

// BuildRelevance makes the function of that name. A model is built when its function is
// chosen for the first time, and kept.
func (r *Replica) BuildRelevance(name string) (*relevance.Model, error) {
	if made := r.models[name]; made != nil {
		return made, nil
	}
	r.Observed.hold(name)
	f, err := r.Parts.Relevance(name, r.Observed.log, r.Agent.Values, r.Seed)
	if err != nil {
		return nil, err
	}
	if f.State != nil {
		r.own(name, f.State)
		r.models[name] = f
	}
	return f, nil
}

// Function returns the function of that name from what the replica has; one with a model only if
// that has been built.
func (r *Replica) Function(name string) (*relevance.Model, error) {
	if learns(name) && r.models[name] == nil {
		return nil, fmt.Errorf("relevance %q: its model has not been built yet", name)
	}
	return r.BuildRelevance(name)
}

// NewModel makes an untrained model of the function of that name; the caller owns it.
func (r *Replica) NewModel(name string) (*relevance.Model, error) {
	f, err := r.Parts.Relevance(name, r.Observed.log, nil, r.Seed)
	if err != nil {
		return nil, err
	}
	if f.State == nil {
		return nil, fmt.Errorf("relevance %q has no model", name)
	}
	return f, nil
}
