package replica

import (
	"math"

	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// takeData takes the recorded data that the replica begins with: into D_real as its oldest rows, or,
// if they are pinned, beside it.
func (r *Replica) takeData() {
	w := r.Parts.Shape.Width()
	switch rows := r.Parts.Recorded; {
	case len(rows) == 0:
	case r.Config.Data.Pinned():
		r.prior = replay.NewRing(r.Parts.Shape, len(rows)/w)
		r.prior.AddRows(rows)
	default:
		for ; len(rows) > 0; rows = rows[w:] {
			r.Real.AddRows(rows[:w])
			if r.priorities != nil {
				r.priorities.Added(r.Real.Newest(0))
			}
		}
	}
}

// samplePrior replaces a share of a batch's real rows, the first ones, by rows of the pinned data, which q
// draws.
func (r *Replica) samplePrior(now Now, b *replay.Batch, mix replay.Mix, q *rng.Sequence) {
	if r.prior == nil {
		return
	}
	n := int(math.Round(now.Settings.Prior * float64(mix.Real)))
	if cap(r.drawn) < n {
		r.drawn = make([]int, n)
	}
	r.drawn = r.drawn[:n]
	for i := range r.drawn {
		r.drawn[i] = q.IntN(r.prior.Len())
	}
	r.prior.Gather(b, 0, r.drawn)
}

// pretrain is the phase that makes updates on recorded data, in the first env step. Each slice makes
// as many as an env step does, so that the policy is updated as often. All rows of their batches are of pinned
// data, if there are such: D_real has the row of that env step alone, which is also why models of F, which learn
// from D_real, do not learn yet.
func (r *Replica) pretrain() Phase {
	return Phase{
		At: knob.Learn, Doing: "pretrain", Once: true,
		Due:   func(now Now) bool { return r.Config.Data.Pretrain > 0 && now.Step == r.Config.Environment.InLockstep() },
		Start: func(Now) (int, error) { return r.Config.Data.Pretrain, nil },
		Slice: func(now Now, done int) (int, bool, error) {
			n := min(now.Settings.UTD, r.Config.Data.Pretrain-done)
			if r.prior != nil {
				of := *now.Settings
				of.Prior, now.Settings = 1, &of
			}
			each := 1
			if r.Fused() {
				each = n
			}
			for i := 0; i < n; i += each {
				made, err := r.Update(now, each, i+each == n)
				if err != nil {
					return 0, false, err
				}
				for k := range made {
					if err := r.Learned(&made[k]); err != nil {
						return 0, false, err
					}
				}
				if r.prior != nil {
					continue
				}
				for k := range each {
					if err := r.Functions.Train(now, i+k == n-1); err != nil {
						return 0, false, err
					}
				}
			}
			return n, false, nil
		},
	}
}
