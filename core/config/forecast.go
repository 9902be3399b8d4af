package config

import (
	"fmt"
	"slices"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/task"
)

// Forecast is what a run will take, measured before it has begun.
type Forecast struct {
	Costs  Costs
	Disk   DiskNeed
	Frames int64 // bytes of memory that frames take at the end; 0 if none are seen
}

// Costs are the times that the parts of a run take on a machine, in seconds; 0 if a time is not
// known or the run has no such part.
type Costs struct {
	Step       float64 // an env step with its updates; if the method has a generator, on real and synthetic rows
	First      float64 // one before the first generation, on real rows alone; 0: as Step
	Score      float64 // F of a real transition, and making that transition if the learner makes it anew before a refit
	Warm       float64 // a unit of work that F's model owes before scoring
	FitStep    float64 // a generator step
	Sample     float64 // a synthetic transition
	Evaluation float64
}

// Lasts estimates how long a run of c takes from its beginning. Random steps before the first
// update, and analyses, are not counted.
func (c *Config) Lasts(u Costs) time.Duration { return c.LastsFrom(&c.Knobs, 0, u) }

// LastsFrom estimates how long the rest of the run takes after a step, with the knobs as they
// are.
func (c *Config) LastsFrom(s *knob.Settings, step int, u Costs) time.Duration {
	from := min(c.Steps, max(step, c.randomSteps()*c.Environment.InLockstep()))
	total := u.Step * float64(c.EnvSteps(c.Steps-from))
	if first := min(c.Steps, s.RefitEvery); u.First > 0 && c.Generates() && from < first {
		total += (u.First - u.Step) * float64(c.EnvSteps(first-from))
	}
	if every := c.Evaluation.Every; every > 0 {
		left := c.Steps/every - step/every
		if step < c.Steps && c.Steps%every != 0 {
			left++ // the last env step has one as well
		}
		total += u.Evaluation * float64(left)
	}
	if !c.Generates() || u.Sample == 0 { // not known before the first generation
		return time.Duration(total * float64(time.Second))
	}
	refit := u.FitStep*float64(s.GeneratorSteps) + u.Sample*float64(s.Samples) + u.Warm*float64(c.owed(s))
	refits, rows := c.refits(s, step)
	total += refit*float64(refits) + u.Score*float64(rows)
	return time.Duration(total * float64(time.Second))
}

// randomSteps is how many env steps of a member fill the buffer with the run's random start.
func (c *Config) randomSteps() int { return c.StartSteps / c.Environment.InLockstep() }

// Pace is when the run makes critic updates, as long as the knob utd stays as it is.
func (c *Config) Pace() agent.Pace {
	if s, d := c.Learner(task.Task{}); s.Pace != nil {
		return s.Pace(d, c.randomSteps())
	}
	return agent.Pace{From: c.randomSteps(), Updates: c.Knobs.UTD, Every: 1}
}

// Stored is how many rows D_real gets in the whole run, under s: if the learner makes D_real
// anew, all of its rows at each refit.
func (c *Config) Stored(s *knob.Settings) (rows int) {
	if !c.Fills() {
		return c.Steps
	}
	_, rows = c.refits(s, 0)
	return rows
}

// refits returns how many refits follow a step, and how many rows D_real has at them, all taken
// together: equally many more at each, until it is full. The last env step has no refit.
func (c *Config) refits(s *knob.Settings, step int) (n, rows int) {
	each := max(s.RefitEvery, c.Environment.InLockstep())
	before, last := step/each, (c.Steps-1)/each
	if before >= last {
		return 0, 0
	}
	most := c.Collected()
	growing := min(max(before, most/each), last)
	rows = each*((growing-before)*(before+1+growing)/2) + most*(last-growing)
	return last - before, rows
}

// owed is how much work F's model has to make up for at each refit: if the learner makes D_real
// anew then, all of its updates, up to a limit. Models that learn from what was seen owe
// nothing.
func (c *Config) owed(s *knob.Settings) int {
	if !c.Fills() || !slices.Contains(relevance.NamesOf(relevance.LearnsInSteps), s.Relevance) || relevance.Observes(c.Relevance.Of(s.Relevance), c.Sight()) {
		return 0
	}
	pace := c.Relevance.Pace(s.Relevance)
	return min(pace.Warmup, c.EnvSteps(s.RefitEvery)/max(1, pace.Every))
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

// checkpointsKept is about how many checkpoints lie in a run folder: the last three
// and the best.
const checkpointsKept = 4

// DiskNeed estimates how many bytes a run takes on the disk, before it has begun.
type DiskNeed struct {
	Checkpoint int64 // of one checkpoint, without what it shares
	Generation int64 // of a D_syn; there are as many as checkpoints at most
	Real       int64 // of all rows that D_real ever has
	Held       int64 // of those that it has at a time: a checkpoint adds no more
}

// Total is the whole run folder, however often it is saved.
func (d DiskNeed) Total() int64 { return checkpointsKept*(d.Checkpoint+d.Generation) + d.Real }

// After is the run folder after that many checkpoints.
func (d DiskNeed) After(checkpoints int) int64 {
	return int64(min(checkpoints, checkpointsKept))*(d.Checkpoint+d.Generation) + min(d.Real, int64(checkpoints)*d.Held)
}

// CheckpointEvery is the time between two checkpoints of a run that is told no other.
const CheckpointEvery = 5 * time.Minute

// Checkpoints estimates how many checkpoints a run of c makes that takes that long: one every
// CheckpointEvery, one at its end, and those that Evaluation.KeepEvery asks for.
func (c *Config) Checkpoints(lasts time.Duration) int {
	n := 1 + int(lasts/CheckpointEvery)
	if c.Evaluation.KeepEvery > 0 {
		n += c.Steps / c.Evaluation.KeepEvery
	}
	return n
}

// FramesPacked is how many bytes of frames a byte on the disk holds at least. We measured 5.1 to
// 5.6 for quadruped and walker, 15 for cheetah, about 90 for cartpole and reacher.
const FramesPacked = 4

// HistoryPacked is the same for frames in a checkpoint, which are compressed faster. We measured
// about 2 for mazes with a noisy TV, a quarter of which is noise.
const HistoryPacked = 2

// framesPackedBest is how many bytes of frames a byte on the disk holds at most.
const framesPackedBest = 100

// FilmFits returns a one-line error if a run's frames cannot fit on a disk with free bytes free,
// whatever they show; free is 0 if it is unknown. Frames that may not fit are left to Try.
func (c *Config) FilmFits(free int64, t task.Task) error {
	if !c.Sees() || free <= 0 {
		return nil
	}
	side := float64(c.Pixels.Side)
	film := float64(c.Members) * float64(c.FramesSeen(t)) * agent.Colours * side * side
	if film/framesPackedBest > float64(free) {
		return fmt.Errorf("configuration: frames of %s env steps take about %s on the disk, %s are free: make fewer steps, choose a smaller pixels.side, or another place with --out",
			knob.FormatCount(c.Steps), bytesText(film/FramesPacked), bytesText(float64(free)))
	}
	return nil
}
