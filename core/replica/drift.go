package replica

import (
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/event"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// driftRows is how many rows of D_real the drift of latents is measured on, spread evenly, if the
// learner keeps none to measure it on; they are the same ones until D_real is made again.
const driftRows = 256

// ReportDrift reports the drift of latents, at most once in an env step. A refit makes D_real again
// before the evaluation of the same env step, which would only see a drift of 0; so it is also
// called before that, when the drift is at its greatest.
func (o *Trial) ReportDrift() error {
	r := o.of
	if r.Drifted == r.Stepped {
		return nil
	}
	found, known, err := latents(r.Agent.Encoder, r.sight, r.Real)
	if err != nil || !known {
		return err
	}
	r.Drifted = r.Stepped
	r.emit(event.TypeLatents, found)
	return nil
}

// latents measures how far the learner's present latents of frames are from those that D_real
// has of the same frames. known is false if D_real has none, or the learner sees none.
func latents(encoder agent.Encoder, s *sight, real *replay.Ring) (found event.Latents, known bool, err error) {
	if encoder == nil || s == nil || real.Len() == 0 {
		return found, false, nil
	}
	then, now, aligned, err := reencoded(encoder, s, real)
	if err != nil || len(then) == 0 {
		return found, false, err
	}
	size := real.Shape().Obs
	found = event.Latents{Drift: run.Float(drift(now, then, then, size)), Size: run.Float(meanSize(now))}
	if aligned != nil {
		found.Aligned = run.Float(drift(now, aligned, then, size))
	}
	return found, true, nil
}

// reencoded returns the latents that D_real has of some of its rows, those that they would have now, and what updates
// read instead of the first; none if the frames of most have been forgotten: the others are no sample of D_real.
func reencoded(encoder agent.Encoder, s *sight, real *replay.Ring) (then, now, aligned []float32, err error) {
	if then, now, aligned, err = encoder.Reencode(); err != nil || len(then) > 0 {
		return then, now, aligned, err
	}
	row, size := replay.FrameRow{Next: make([][]byte, s.stack)}, real.Shape().Obs
	var stacks [][][]byte
	slots := real.Spread(driftRows)
	for _, slot := range slots {
		row.Stack = make([][]byte, s.stack)
		if encoder.Recall(&row, s.sampler, slot) == nil {
			stacks, then = append(stacks, row.Stack), append(then, real.Row(slot)[:size]...)
		}
	}
	if 2*len(stacks) < len(slots) {
		return nil, nil, nil, nil
	}
	now, err = encoder.Encode(stacks)
	return then, now, nil, err
}

// drift is mean ‖now − said‖² over mean ‖then − its mean‖², for rows of size numbers; NaN if all
// rows of then are alike.
func drift(now, said, then []float32, size int) float64 {
	mean, rows := make([]float64, size), float64(len(then)/size)
	for i, z := range then {
		mean[i%size] += float64(z) / rows
	}
	moved, spread := 0.0, 0.0
	for i, z := range then {
		moved += square(float64(now[i]) - float64(said[i]))
		spread += square(float64(z) - mean[i%size])
	}
	if spread == 0 {
		return math.NaN()
	}
	return moved / spread
}

func square(x float64) float64 { return x * x }

// meanSize is the mean of |z|.
func meanSize(z []float32) (mean float64) {
	for _, v := range z {
		mean += math.Abs(float64(v)) / float64(len(z))
	}
	return mean
}
