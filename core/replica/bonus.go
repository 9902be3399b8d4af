package replica

import (
	"fmt"
	"math"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
)

// addBonus adds the bonus to the rewards of a batch.
func (r *Replica) addBonus(now Now, b *replay.Batch) error {
	strength := now.Settings.Bonus
	follows := r.Config.Bonus.Scale == config.ScaleReturns
	// Returns of F over frames cannot be made up for when a strength of 0 rises.
	if !r.Config.Bonus.Given() || strength == 0 && !(follows && b.Frames != nil) {
		return nil
	}
	if follows && b.Frames == nil {
		if err := r.followBonus(); err != nil {
			return err
		}
	}
	r.curious = resized(r.curious, b.Size)
	f := r.Functions.fixed(r.Config.Bonus.Function)
	if err := r.Rounds.score(r.curious, f, b); err != nil {
		return err
	}
	if err := f.Finite(r.curious, knob.FormatCount, func(i int) (*replay.Batch, int) { return b, i }); err != nil {
		return err
	}
	scale := f.Scale
	if follows && b.Frames != nil { // of the env step only: earlier ones are not kept with their rows
		for i, v := range r.curious {
			r.BonusReturn.add(uint64(i), r.Config.Agent.Gamma, scale*float64(v))
		}
		if strength == 0 {
			return nil
		}
	}
	if follows {
		scale /= r.BonusReturn.Of.std()
	}
	if math.IsInf(scale, 0) || math.IsNaN(scale) {
		return nil // all are alike: nothing is more interesting than the rest
	}
	mean := 0.0
	for i, f := range r.curious {
		bonus := strength * scale * float64(f)
		b.Reward[i] += float32(bonus)
		mean += bonus / float64(b.Size)
	}
	r.Losses.Bonus.add(mean)
	return nil
}

// observedRewards returns the rewards of the env step as the learner observes them. They include
// the bonus if the learner learns from them and not from batches, from the time when the bonus's
// model learns.
func (r *Replica) observedRewards(now Now) ([]float32, error) {
	b := r.newest
	f := r.Functions.fixed(r.Config.Bonus.Function)
	switch {
	case b != nil && f.Rounds != nil:
		copy(b.Reward, r.World.Rewards)
	case b == nil || !r.Enough() || !r.Parts.Fills && r.Real.Len() < b.Size:
		return r.World.Rewards, nil
	case b.Frames != nil:
		copy(b.Reward, r.World.Rewards)
		r.showNewest(b)
		if f.Begin != nil {
			if err := f.Begin(b, b.Size); err != nil {
				return r.World.Rewards, r.diverged("add the bonus", err)
			}
		}
	default:
		r.Real.Gather(b, 0, r.Real.Oldest(r.Real.Len()-b.Size, b.Size))
	}
	if err := r.addBonus(now, b); err != nil {
		return r.World.Rewards, r.diverged("add the bonus", err)
	}
	return b.Reward, nil
}

// showNewest writes to b what was seen in the env step: frames, or the numbers that rows are
// made of.
func (r *Replica) showNewest(b *replay.Batch) {
	for i := range b.Frames {
		row := &b.Frames[i]
		if r.sight != nil {
			r.Observed.log.Latest(i, row)
		} else {
			row.Obs, row.Action, row.NextObs = r.World.Row(r.World.Obs, i), r.World.Row(r.World.Action, i), r.World.Row(r.World.Next, i)
		}
		b.Notes[i] = r.Rounds.note(i)
	}
}

// prepareBonus allocates the transitions of an env step, for a learner that observes the bonus
// with them. It returns an error if the learner cannot be given a bonus.
func (r *Replica) prepareBonus() error {
	if r.Agent.Batches != nil || !r.Config.Bonus.Given() {
		return nil
	}
	if !r.Observed.read() {
		return fmt.Errorf("bonus.function is %q, but learner %s takes rewards neither in batches nor as it meets them: want %q",
			r.Config.Bonus.Function, r.Config.Agent.Learner, config.FunctionNone)
	}
	r.newest = replay.NewBatch(r.Parts.Shape, r.World.Copies)
	f := r.Functions.fixed(r.Config.Bonus.Function)
	if f.Sees {
		r.newest.Frames, r.newest.Notes = replay.NewFrameRows(r.World.Copies, r.Config.Pixels.Stack), make([]replay.Note, r.World.Copies)
	}
	if f.Prepare != nil {
		return f.Prepare(r.World.Copies)
	}
	return nil
}

// moments are the mean and the variance of a growing set of numbers (Welford 1962).
type moments struct {
	N            uint64
	Mean, Spread float64 // Spread is the sum of squared distances from the mean
}

func (m *moments) add(v float64) {
	m.N++
	d := v - m.Mean
	m.Mean += d / float64(m.N)
	m.Spread += d * (v - m.Mean)
}

// std is the population standard deviation.
func (m *moments) std() float64 { return math.Sqrt(m.Spread / float64(m.N)) }
