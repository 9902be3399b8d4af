package config

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/task"
)

// randomSteps is how many env steps of a member fill the buffer with the run's random start.
func (c *Config) randomSteps() int { return c.StartSteps / c.Environment.InLockstep() }

// Pace is when the run makes critic updates, as long as the knob utd stays as it is.
func (c *Config) Pace() agent.Pace {
	if p := c.Traits(task.Task{}).Pace; p != (agent.Pace{}) {
		return p
	}
	return agent.Pace{From: c.randomSteps(), Updates: c.Knobs.UTD, Every: 1}
}

// Weighs weighs the rows of a batch by the time that an update takes for them: if a learner sees
// frames, a synthetic row is a tenth of the work of a real one, whose frames have to be
// processed. The result is 0 if all rows are alike.
func (c *Config) Weighs(m replay.Mix) float64 {
	const synthetic = 0.1
	if !c.Sees() || !c.Generates() {
		return 0
	}
	return float64(m.Real) + synthetic*float64(m.Synthetic)
}

// FramesPacked is how many bytes of frames a byte on the disk holds at least. We measured 5.1 to
// 5.6 for quadruped and walker, 15 for cheetah, about 90 for cartpole and reacher.
const FramesPacked = 4

// HistoryPacked is the same for frames in a checkpoint, which are compressed faster. We measured
// about 2 for mazes with a noisy TV, a quarter of which is noise.
const HistoryPacked = 2

// framesPackedBest is how many bytes of frames a byte on the disk holds at most.
const framesPackedBest = 100

// FilmFits returns a one-line error if the frames that a run keeps cannot fit on a disk with free bytes free,
// whatever they show; free is 0 if it is unknown. Frames that may not fit are left to Try.
func (c *Config) FilmFits(free int64, t task.Task) error {
	if !c.Sees() || free <= 0 {
		return nil
	}
	side := float64(c.Pixels.Side)
	frames := min(c.FramesSeen(t), c.Keeps(t, c.FixedFunctions()...).Looks)
	film := float64(c.Members) * float64(frames) * agent.Colours * side * side
	if film/framesPackedBest > float64(free) {
		return fmt.Errorf("configuration: %s frames take about %s on the disk, %s are free: make fewer steps, choose a smaller buffer or pixels.side, or another place with --out",
			knob.FormatCount(frames), bytesText(film/FramesPacked), bytesText(float64(free)))
	}
	return nil
}
