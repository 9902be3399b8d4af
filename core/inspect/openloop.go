package inspect

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"slices"
	"strconv"

	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/run"
)

// How much of a sequence an OpenLoop shows.
const (
	openLoopNumbers = 6  // of the observation
	openLoopSeen    = 3  // frames that were seen, and at most as many after them as there are horizons
	openLoopQuality = 85 // of the picture, in percent
)

// OpenLoop measures what the model of the world of the learner, or of a generator that rolls one out, predicts of
// real env steps. number draws them. nil: there is no such model, it can predict nothing yet, or nothing varied.
func (v *View) OpenLoop(number uint64) (*event.OpenLoop, error) {
	of, err := v.predicted(number)
	if of == nil || err != nil {
		return nil, err
	}
	var m analysis.OpenLoop
	if of.Side > 0 {
		m = analysis.MeasureOpenLoop(of.Seen, of.Foreseen, of.Rows, of.Steps, of.Context, of.Side*of.Side*agent.Colours)
	} else {
		m = analysis.MeasureOpenLoop(of.Real, of.Predicted, of.Rows, of.Steps, of.Context, 1)
	}
	if len(m.Spread(1)) == 0 {
		return nil, nil
	}
	line := &event.OpenLoop{Context: of.Context, Horizon: m.Horizon, Error: shortened(m.Error), Held: shortened(m.Held)}
	if of.Side > 0 {
		line.Frames, err = openLoopFrames(of, m.Horizon)
	} else {
		line.Shown = openLoopShown(of, m)
	}
	if rewards := analysis.MeasureOpenLoop(of.Reward, of.PredictedReward, of.Rows, of.Steps, of.Context, 1); !math.IsNaN(rewards.Each[0]) {
		line.Reward = shortened(rewards.Error)
	}
	return line, err
}

func (v *View) predicted(number uint64) (of *agent.OpenLoop, err error) {
	if v.Foresees != nil {
		of, err = v.Foresees(number)
	} else if g, is := v.Gen.(foreseer); is && v.Fitted {
		of, err = v.rolledOut(g, number)
	}
	if err != nil {
		return nil, fmt.Errorf("open loop: %w", err)
	}
	return of, nil
}

// foreseer is a Generator that rolls out a model of the dynamics.
type foreseer interface {
	// Foresee writes s' [rows,O] and r [rows] as the model expects them, for rows observations and actions.
	Foresee(next, reward, obs, act []float32, rows int) error
}

// The sequences for which a generator's model is rolled out. A state is all that it needs to see.
const (
	rolledRows  = 64
	rolledSteps = 17
)

// rolledOut rolls out the model of a generator from real states, with the actions that were taken there; nil: D_real
// has no sequences of that length.
func (v *View) rolledOut(g foreseer, number uint64) (*agent.OpenLoop, error) {
	const n, steps, context = rolledRows, rolledSteps, 1
	all := v.sequences(number)
	if all == nil {
		return nil, nil
	}
	shape := v.Real.Shape()
	o, a := shape.Obs, shape.Act
	of := &agent.OpenLoop{
		Rows: n, Steps: steps, Context: context, Real: make([]float32, n*steps*o), Predicted: make([]float32, n*steps*o),
		Actions: make([]float32, n*steps*a), Reward: make([]float32, n*steps), PredictedReward: make([]float32, n*steps),
	}
	obs, act, reward := make([]float32, n*o), make([]float32, n*a), make([]float32, n)
	for t := range steps {
		for i, slots := range all {
			row, at := v.Real.Row(slots[t]), i*steps+t
			copy(act[i*a:(i+1)*a], row[o:])
			copy(of.Actions[at*a:], row[o:o+a])
			copy(of.Real[at*o:], row[o+a+1:2*o+a+1])
			of.Reward[at] = row[o+a]
			if t < context {
				copy(obs[i*o:(i+1)*o], of.Real[at*o:])
				reward[i] = of.Reward[at]
			}
		}
		if t >= context {
			if err := g.Foresee(obs, reward, obs, act, n); err != nil {
				return nil, err
			}
		}
		for i := range n {
			copy(of.Predicted[(i*steps+t)*o:], obs[i*o:(i+1)*o])
			of.PredictedReward[i*steps+t] = reward[i]
		}
	}
	return of, nil
}

// sequences draws the slots of transitions of D_real that follow each other; nil: there are too few.
func (v *View) sequences(number uint64) (all [][]int) {
	span := (rolledSteps-1)*v.Copies + 1
	if v.Real.Len() < span {
		return nil
	}
	s, starts := v.Stream.Sub("open loop"), uint64(v.Real.Len()-span+1)
	const tries = 32 // as many for each row
	for attempt := uint64(0); len(all) < rolledRows; attempt++ {
		if attempt == tries*rolledRows {
			return nil
		}
		words := s.Block(number, attempt)
		if slots := v.sequence(int((uint64(words[0])<<32 | uint64(words[1])) % starts)); slots != nil {
			all = append(all, slots)
		}
	}
	return all
}

// sequence is the sequence that begins with the first-th oldest transition; nil: an episode ends in it.
func (v *View) sequence(first int) (slots []int) {
	shape := v.Real.Shape()
	o, a := shape.Obs, shape.Act
	for t := range rolledSteps {
		slot := v.Real.Oldest(first+t*v.Copies, 1)[0]
		if t > 0 {
			before := v.Real.Row(slots[t-1])
			if before[len(before)-1] != 0 || !slices.Equal(before[o+a+1:2*o+a+1], v.Real.Row(slot)[:o]) {
				return nil
			}
		}
		slots = append(slots, slot)
	}
	return slots
}

// openLoopShown are numbers of the observation of the first sequence.
func openLoopShown(of *agent.OpenLoop, m analysis.OpenLoop) (shown []event.OpenLoopNumber) {
	width := len(of.Real) / of.Rows / of.Steps
	for _, j := range m.Spread(openLoopNumbers) {
		n := event.OpenLoopNumber{Number: j, Error: short(m.Each[j])}
		for step := range of.Steps {
			n.Real = append(n.Real, short(float64(of.Real[step*width+j])))
			n.Predicted = append(n.Predicted, short(float64(of.Predicted[step*width+j])))
		}
		shown = append(shown, n)
	}
	return shown
}

// openLoopFrames are frames of the first sequence: the last ones that were seen, and those at the horizons.
func openLoopFrames(of *agent.OpenLoop, horizon []int) (*event.OpenLoopFrames, error) {
	f := &event.OpenLoopFrames{Side: of.Side}
	for step := 1 - min(openLoopSeen, of.Context); step <= 0; step++ {
		f.Steps = append(f.Steps, step)
	}
	f.Steps = append(f.Steps, horizon...)
	side, size := of.Side, of.Side*of.Side*agent.Colours
	img := image.NewRGBA(image.Rect(0, 0, side*len(f.Steps), 2*side))
	for i, step := range f.Steps {
		at := (of.Context - 1 + step) * size
		for y, column := range [][]byte{of.Seen, of.Foreseen} {
			colour(img, image.Pt(i*side, y*side), column[at:at+size], side)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: openLoopQuality}); err != nil {
		return nil, fmt.Errorf("frames of an open loop: %w", err)
	}
	f.Image = b.Bytes()
	return f, nil
}

// colour copies a frame into an image.
func colour(img *image.RGBA, to image.Point, frame []byte, side int) {
	for i := range side * side {
		pixel := img.Pix[img.PixOffset(to.X+i%side, to.Y+i/side):]
		copy(pixel[:agent.Colours], frame[i*agent.Colours:])
		pixel[agent.Colours] = math.MaxUint8
	}
}

// short has as many digits as a picture needs.
func short(v float64) run.Float {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return run.Float(rounded)
}

func shortened(all []float64) (out []run.Float) {
	for _, v := range all {
		out = append(out, short(v))
	}
	return out
}
