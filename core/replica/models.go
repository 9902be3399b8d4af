package replica

import (
	"fmt"
	"maps"
	"slices"

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

// Functions are the relevance functions of a replica: those that learn are built once, and trained.
type Functions struct {
	of     *Replica
	built  map[string]*relevance.Model // by name; only those that learn
	others map[string]*relevance.Model // formulas that learn nothing themselves
	mixers map[string]replay.Mixer     // that sample their batches, by name
	begun  []string                    // trained models with an update under way
}

// Built says whether the replica has what the function of that name needs: no models, or ones
// that have learned something, and have not just begun to count or to measure again.
func (o *Functions) Built(name string) bool {
	return !slices.ContainsFunc(relevance.Needs(name), func(need string) bool { return !o.ready(need) })
}

// ready is Built for one function that another needs.
func (o *Functions) ready(name string) bool {
	r := o.of
	m := o.built[name]
	switch {
	case m == nil:
		return !learns(name)
	case m.Whole != nil:
		return m.Whole.Measured() && r.Counting != name
	case m.Counts != nil:
		return m.Counts.Seen() > 0 && r.Counting != name
	case m.Rounds != nil:
		return m.Rounds.Learned()
	case m.Known != nil:
		return m.Known()
	case m.Steps != nil:
		return slices.ContainsFunc(r.Models, func(s modelState) bool { return s.Name == name && s.Updates > 0 })
	}
	return true
}

// uses says whether F, a bonus or priorities come from the model of that name.
func (o *Functions) uses(now Now, name string) bool {
	r := o.of
	if relevance.Takes(now.Settings.Relevance, name) {
		return true
	}
	for _, fixed := range r.Config.FixedFunctions() {
		if relevance.Takes(fixed, name) {
			return true
		}
	}
	return false
}

// Train makes one update of each trained model in use that is due after a critic update,
// on a fresh batch of real transitions (line 3 of Algorithm 1, where F learns); last says
// whether the critic update was the last of its env step. With a learner that makes no such
// updates, env steps count instead. If D_real is made again before each refit, updates are missed
// until then, and made up for on the new rows: the old rows are what the learner made of its
// experience at the last refit, and contain nothing since. Models of frames, or of observations,
// need not wait, because these stay what they are. An update that is made in parts only begins to be
// due: see modelParts.
func (o *Functions) Train(now Now, last bool) error {
	r := o.of
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
		case !o.due(name, updates, last):
		case o.uses(now, name) && o.feeds(name):
			if o.parts(name) > 1 && !takesBatches {
				o.beginParts(name)
			} else if err := o.Update(name); err != nil {
				return err
			}
		case r.Config.Prompted():
			r.stateOf(name).Missed++
		}
	}
	return nil
}

// Begin begins, before the updates of an env step, those updates of models that Train makes after the last
// of them, where the device can go on with them meanwhile: neither changes anything that the other uses.
func (o *Functions) Begin(now Now) error {
	r := o.of
	if r.Agent.Batches == nil {
		return nil
	}
	for _, name := range trainedModels {
		if r.Config.Relevance.Pace(name).Every != 0 || !o.uses(now, name) || !o.feeds(name) || o.parts(name) > 1 {
			continue
		}
		if m := o.built[name]; m != nil && m.Beside != nil {
			step := m.Beside
			if err := o.fill(name, step.Batch()); err != nil {
				return err
			}
			if err := step.Start(); err != nil {
				return err
			}
			o.begun = append(o.begun, name)
		}
	}
	return nil
}

// End ends the updates that Begin has begun.
func (o *Functions) End() error {
	for len(o.begun) > 0 {
		if err := o.Update(o.begun[0]); err != nil {
			return err
		}
	}
	return nil
}

// feeds says whether a trained model has something to learn from between refits: rows of D_real
// that are kept, or frames.
func (o *Functions) feeds(name string) bool {
	r := o.of
	if m := o.built[name]; m != nil && m.Sees {
		return r.Enough()
	}
	return r.Real.Len() > 0 && !r.Parts.Fills
}

// due says whether a trained model makes an update after that many critic updates.
func (o *Functions) due(name string, updates uint64, last bool) bool {
	r := o.of
	every := r.Config.Relevance.Pace(name).Every
	if every == 0 {
		return last
	}
	return updates%uint64(every) == 0
}

// Update makes one update of the model of that name, which must be a trained one, or ends the one that has begun.
func (o *Functions) Update(name string) error {
	m := o.built[name]
	if m == nil || m.Steps == nil {
		return fmt.Errorf("train %s: it has no model", name)
	}
	if i := slices.Index(o.begun, name); i >= 0 {
		o.begun = slices.Delete(o.begun, i, i+1)
	} else if err := o.fill(name, m.Steps.Batch()); err != nil {
		return err
	}
	loss, err := m.Steps.Train()
	return o.updated(name, loss, err)
}

// fill samples the batch of the next update of a trained model.
func (o *Functions) fill(name string, b *replay.Batch) error {
	r := o.of
	s := r.stateOf(name)
	if b.Frames != nil {
		from := r.Observed.frames(r.streams.models.Sub(name))
		if r.Config.Relevance.SkipsRespawns(name) {
			from = from.WithoutRespawns()
		}
		return fill(b, from, s.Updates)
	}
	return o.mixerOf(name).SampleFrom(b, o.met(name), s.Updates)
}

// updated counts an update of a trained model, which ended with that loss or error.
func (o *Functions) updated(name string, loss float64, err error) error {
	r := o.of
	r.stateOf(name).Updates++
	if err != nil {
		return r.diverged("train "+name, err)
	}
	r.Losses.addModel(name, loss)
	return nil
}

// mixerOf returns the mixer that samples the batches of a trained model, by its update, from the
// stream of its name.
func (o *Functions) mixerOf(name string) replay.Mixer {
	r := o.of
	mixer, ok := o.mixers[name]
	if !ok {
		mixer = replay.NewMixer(r.streams.models.Sub(name))
		if r.Config.Relevance.SkipsRespawns(name) {
			mixer = mixer.WithoutRespawns()
		}
		o.mixers[name] = mixer
	}
	return mixer
}

// Build makes the function of that name. A model is built when its function is
// chosen for the first time, and kept.
func (o *Functions) Build(name string) (*relevance.Model, error) {
	r := o.of
	if made := o.built[name]; made != nil {
		return made, nil
	}
	var f *relevance.Model
	var err error
	if relevance.IsFormula(name) {
		f, err = relevance.NewFormula(name, o.scope(o.Build))
	} else {
		r.Observed.hold(name)
		f, err = r.Parts.Relevance(name, r.Observed.log, r.Agent.Values, r.Generator, r.Seed)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case f.State != nil:
		r.own(name, f.State)
		o.built[name] = f
	case relevance.IsFormula(name):
		o.others[name] = f
	}
	return f, nil
}

// fixed is the function of that name, which Build has made, of a bonus or of priorities.
func (o *Functions) fixed(name string) *relevance.Model {
	if f := o.others[name]; f != nil {
		return f
	}
	return o.built[name]
}

// Drop forgets formulas that nothing refers to any more: a person may try many, and each that was measured
// has a column in every checkpoint. The one of the given name stays.
func (o *Functions) Drop(but string) {
	r := o.of
	kept := append(r.Config.FixedFunctions(), r.F.Name(), r.Synthesis.Scored.Of, but)
	if r.Synthesis.scorer != nil {
		kept = append(kept, r.Synthesis.scorer.Name())
	}
	unused := func(name string) bool { return relevance.IsFormula(name) && !slices.Contains(kept, name) }
	maps.DeleteFunc(o.built, func(name string, _ *relevance.Model) bool { return unused(name) })
	maps.DeleteFunc(o.others, func(name string, _ *relevance.Model) bool { return unused(name) })
	r.owned = slices.DeleteFunc(r.owned, func(p owned) bool { return unused(p.name) })
}

// scope is what formulas are computed from.
func (o *Functions) scope(function func(name string) (*relevance.Model, error)) relevance.Scope {
	r := o.of
	return relevance.Scope{Shape: r.Parts.Shape, Names: r.Parts.Names, Function: function, Values: r.Agent.Values}
}

// Function returns the function of that name from what the replica has; one with a model only if
// that has been built.
func (o *Functions) Function(name string) (*relevance.Model, error) {
	for _, need := range relevance.Needs(name) {
		if learns(need) && o.built[need] == nil {
			return nil, fmt.Errorf("relevance %q: its model has not been built yet", need)
		}
	}
	return o.Build(name)
}

// NewModel makes an untrained model of the function of that name; the caller owns it.
func (o *Functions) NewModel(name string) (*relevance.Model, error) {
	r := o.of
	if relevance.IsFormula(name) { // of the models that there are
		return relevance.NewFormula(name, o.scope(o.Function))
	}
	f, err := r.Parts.Relevance(name, r.Observed.log, nil, r.Generator, r.Seed)
	if err != nil {
		return nil, err
	}
	if f.State == nil {
		return nil, fmt.Errorf("relevance %q has no model", name)
	}
	return f, nil
}

// met returns the transitions that a trained model learns from: D_real, or the transitions of
// the environment that D_real is made from.
func (o *Functions) met(name string) replay.Rows {
	r := o.of
	if r.Agent.Encoder != nil && o.built[name].LearnsFromMet {
		return r.Agent.Encoder.Met()
	}
	return r.Real
}
