package replica

import (
	"math"

	"pgrlab/core/experience"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// Rounds drives the relevance function that learns in rounds from the env steps that it is given,
// if the run has one.
type Rounds struct {
	of  *Replica
	met relevance.Met // the env step
	f   []float32     // F of it, [K]; nil if there is no such function

	// judged is F for the notes of its transitions, [K]. It is NaN, and not the 0 of f, where nothing
	// has judged them: that 0 would count as more relevant than most of what is judged later.
	judged []float32
}

// episodicNames are the relevance functions that are given every env step.
var episodicNames = relevance.NamesOf(relevance.LearnsInRounds)

// function returns the one that is built, or nil.
func (o *Rounds) function() relevance.Episodic {
	for _, name := range episodicNames {
		if f := o.of.Functions.built[name]; f != nil && f.Rounds != nil {
			return f.Rounds
		}
	}
	return nil
}

// meet gives the function the env step.
func (o *Rounds) meet(now Now) error {
	f, r := o.function(), o.of
	o.judged = resized(o.judged, r.World.Copies)
	for i := range o.judged {
		o.judged[i] = float32(math.NaN())
	}
	if f == nil {
		o.f = nil
		return nil
	}
	o.f, o.met.Ended = resized(o.f, r.World.Copies), o.met.Ended[:0]
	for _, end := range r.World.Ends {
		o.met.Ended = append(o.met.Ended, end != experience.Continues)
	}
	o.met.Step, o.met.Obs, o.met.Next = uint64(r.envStep(now)), r.World.Obs, r.World.Next
	if r.sight != nil {
		o.met.Seen, o.met.NextSeen = r.sight.pass(r.World)
	}
	o.met.From, o.met.Place = r.World.Places, resized(o.met.Place, len(r.World.Places))
	r.World.Locate(o.met.Place)
	if err := f.Meet(o.f, &o.met); err != nil {
		return r.diverged("meet an env step", err)
	}
	if f.Learned() {
		for i, v := range o.f {
			if !o.met.Ended[i] { // there F is 0 because nothing is compared, whatever others have
				o.judged[i] = v
			}
		}
	}
	r.Losses.addFamiliarity(f.Familiarity())
	return nil
}

// note returns what is known of the transition of copy i.
func (o *Rounds) note(i int) replay.Note {
	return replay.Note{Met: true, Respawned: o.of.World.Respawned[i], F: o.judged[i]}
}

// score writes F of a batch to dst. If f is given env steps, that is F of the env step as it
// was met.
func (o *Rounds) score(dst []float32, f *relevance.Model, b *replay.Batch) error {
	if f.Rounds != nil {
		copy(dst, o.f)
		return nil
	}
	return f.Score(dst, b, b.Size)
}

// Due says whether a round is to be made before the next env step, or is under way.
func (o *Rounds) Due() bool {
	f := o.function()
	return f != nil && f.RoundDue()
}

// phase is the phase of a relevance function that learns now and then from everything met since its
// last round, for a bonus and for F alike. All members of a cohort have met equally many env steps,
// but need not have equally much to learn from.
func (o *Rounds) phase() Phase {
	return Phase{
		At: knob.Reach, Doing: "learn what is within reach",
		Due:   func(Now) bool { return o.Due() },
		Start: func(Now) (int, error) { return o.function().RoundUnits(), nil },
		Slice: func(_ Now, done int) (n int, ended bool, err error) {
			if !o.Due() {
				return 0, true, nil
			}
			err = o.Learn(done)
			return 1, !o.Due(), err
		},
	}
}

// Fill makes full what the function remembers, and says whether there is one.
func (o *Rounds) Fill() bool {
	f := o.function()
	if f != nil {
		f.Fill()
	}
	return f != nil
}

// Learn does the unit of the round that follows the first done ones.
func (o *Rounds) Learn(done int) error {
	f, r := o.function(), o.of
	loss, err := f.LearnSlice(done)
	switch {
	case err != nil:
		return r.diverged("train "+f.Name(), err)
	case !math.IsNaN(loss):
		r.stateOf(f.Name()).Updates++
		r.Losses.addModel(f.Name(), loss)
	}
	return nil
}
