// Package cost answers what a run takes: time, memory and disk, before it begins and while it goes on.
// Time is work, which the configuration counts, times what a unit of it takes. Units are measured in a
// trial of all parts before a run, by a Meter in the run itself, or read from the Journal of an earlier
// one. The answers are for people; no decision of a run depends on them.
package cost

import (
	"cmp"
	"slices"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
)

// Model is what a run takes on a machine.
type Model struct {
	Units
	Device string  // with which the units were measured; "": unknown
	Cores  float64 // that this process had then, on average; 0: unknown
	Disk   Disk
	Frames int64 // bytes of memory that frames take at the end; 0 if none are seen
}

// Units are the seconds that units of a run's work take; 0 if that is not known or there is no such
// work.
type Units struct {
	Step       float64 // an env step of all copies with its updates; if the method has a generator, on real and synthetic rows
	First      float64 // one before the first generation, on real rows alone, or before the first round of F; 0: as Step
	Score      float64 // F of a real transition, and making that transition if the learner makes it again before a refit
	Warm       float64 // a unit of work that F's model owes before scoring
	FitStep    float64 // a generator step
	Sample     float64 // a synthetic transition
	Evaluation float64
}

// Or returns u with what is unknown taken from v, but for env steps.
func (u Units) Or(v Units) Units {
	u.Score, u.Warm, u.FitStep = cmp.Or(u.Score, v.Score), cmp.Or(u.Warm, v.Warm), cmp.Or(u.FitStep, v.FitStep)
	u.Sample, u.Evaluation = cmp.Or(u.Sample, v.Sample), cmp.Or(u.Evaluation, v.Evaluation)
	return u
}

// Generation is the time of a generation under s; 0: unknown.
func (u Units) Generation(s *knob.Settings) time.Duration {
	return seconds(u.Sample * float64(s.Samples))
}

// Refit is the time of a refit under s to real transitions with a model that owes that many units of
// work; 0: unknown before the first generation.
func (u Units) Refit(s *knob.Settings, real, owed int) time.Duration {
	if u.Generation(s) == 0 {
		return 0
	}
	return seconds(u.Score*float64(real)+u.Warm*float64(owed)+u.FitStep*float64(s.GeneratorSteps)) + u.Generation(s)
}

// Whole is the time of a run of c. Random steps before the first update, and analyses, are not counted.
func (u Units) Whole(c *config.Config) time.Duration { return u.Rest(c, &c.Knobs, 0) }

// Rest is the time of the rest of a run of c after a step, with the knobs as they are. Refits are left
// out while they are unknown.
func (u Units) Rest(c *config.Config, s *knob.Settings, step int) time.Duration {
	copies := c.Environment.InLockstep()
	from := min(c.Steps, max(step, c.Pace().From*copies))
	total := u.Step * float64(c.EnvSteps(c.Steps-from))
	if first := min(c.Steps, beginning(c, s)); u.First > 0 && from < first {
		total += (u.First - u.Step) * float64(c.EnvSteps(first-from))
	}
	total += u.Evaluation * float64(c.Evaluations(step))
	refits, rows := refits(c, s, step)
	if !c.Generates() || refits == 0 || u.Sample == 0 {
		return seconds(total)
	}
	return seconds(total+u.Score*float64(rows)) + time.Duration(refits)*u.Refit(s, 0, owed(c, s))
}

// beginning is the step up to which env steps take Units.First.
func beginning(c *config.Config, s *knob.Settings) (step int) {
	if c.Generates() {
		return c.FirstRefit(s.RefitEvery)
	}
	copies := c.Environment.InLockstep()
	for _, in := range Rounds(c) {
		step = max(step, copies*in.FirstRound(copies))
	}
	return step
}

// Rounds are the functions of a run that learn in rounds, with their settings.
func Rounds(c *config.Config) map[string]relevance.ConfigOfEpisodes {
	all := map[string]relevance.ConfigOfEpisodes{}
	for _, name := range append(c.FixedFunctions(), c.Knobs.Relevance) {
		if in, is := c.Relevance.Of(name).(relevance.ConfigOfEpisodes); is {
			all[name] = in
		}
	}
	return all
}

// Refits is how many refits a run of c has under s.
func Refits(c *config.Config, s *knob.Settings) int {
	n, _ := refits(c, s, 0)
	return n
}

// refits returns how many refits follow a step, and how many rows D_real has at them, all taken
// together: equally many more at each, until it is full. The last env step has no refit.
func refits(c *config.Config, s *knob.Settings, step int) (n, rows int) {
	each, data := max(s.RefitEvery, c.Environment.InLockstep()), 0
	if c.Data.Seeds() {
		data = c.Data.Rows
	}
	first := c.FirstRefit(each)
	switch late := first != c.RoundUp(each); {
	case late && first >= c.Steps && step < first:
		return 0, 0
	case late && first%each != 0 && step < first: // it is none of the cadence
		n, rows, step = 1, max(data, first), first
	default:
		step = max(step, first-each)
	}
	before, last := step/each, (c.Steps-1)/each
	if before >= last {
		return n, rows
	}
	most := c.Collected()
	growing := min(max(before, (most-data)/each), last)
	rows += each*((growing-before)*(before+1+growing)/2) + data*(growing-before) + most*(last-growing)
	return n + last - before, rows
}

// owed is how much work F's model has to make up for at each refit: if the learner makes D_real again
// then, all of its updates, up to a limit. Models that learn from what was seen owe nothing.
func owed(c *config.Config, s *knob.Settings) (updates int) {
	trained := relevance.NamesOf(relevance.LearnsInSteps)
	for _, name := range relevance.Named(s.Relevance) {
		if !c.Fills() || !slices.Contains(trained, name) || relevance.Observes(c.Relevance.Of(name), c.Sight()) {
			continue
		}
		pace := c.Relevance.Pace(name)
		updates += min(pace.Warmup, c.EnvSteps(s.RefitEvery)/max(1, pace.Every))
	}
	return updates
}

// Century is longer than anything takes, whatever results say.
const Century = 100 * 365 * 24 * time.Hour

// Together is the time in which that many processors do jobs, each of which takes one.
func Together(processors float64, jobs ...time.Duration) time.Duration {
	total, longest := 0.0, 0.0
	for _, one := range jobs {
		total, longest = total+float64(one), max(longest, float64(one))
	}
	return time.Duration(min(max(longest, total/max(processors, 0.01)), float64(Century)))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
