package cpu

import "time"

// adaptive chooses, for one program, whether the caller works with its helpers
// or alone, by what either took lately. On a machine whose cores are busy with
// other things two workers that wait for each other can be slower than one: a
// thread that loses its core in the middle of a lane is waited for. The choice
// never shows in the numbers.
type adaptive struct {
	alone, together average
	runs            int
}

const (
	// coldRuns are not compared: they touch memory for the first time.
	coldRuns = 2
	// trials of each way, in turn, come before the first comparison.
	trials = 3
	// probeEvery is how many runs pass until the way that lost is tried again.
	probeEvery = 32
)

// average is an exponential moving average of durations.
type average struct {
	seconds float64
	seen    int
}

// add takes in a duration with that weight, the first one altogether.
func (a *average) add(d time.Duration, weight float64) {
	if a.seen == 0 {
		weight = 1
	}
	a.seconds += weight * (d.Seconds() - a.seconds)
	a.seen++
}

// choose reports whether the next run is to be done alone.
func (a *adaptive) choose() (alone bool) {
	a.runs++
	switch {
	case a.runs <= coldRuns:
		return false
	case a.alone.seen < trials || a.together.seen < trials:
		return a.alone.seen < a.together.seen
	}
	return a.prefersAlone() != (a.runs%probeEvery == 0)
}

func (a *adaptive) prefersAlone() bool { return a.alone.seconds < a.together.seconds }

// record takes in what a run took. The way that lost is tried seldom, so that a
// trial of it says more about the present than all before.
func (a *adaptive) record(alone bool, took time.Duration) {
	if a.runs <= coldRuns {
		return
	}
	way, lost := &a.together, a.prefersAlone()
	if alone {
		way, lost = &a.alone, !lost
	}
	if lost {
		way.add(took, 0.5)
	} else {
		way.add(took, 0.2)
	}
}
