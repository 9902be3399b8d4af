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

// probeEvery is how many runs pass until the way that lost is tried again.
const probeEvery = 64

// average is an exponential moving average of durations.
type average struct {
	seconds float64
	seen    int
}

func (a *average) add(d time.Duration) {
	const weight = 0.2
	if a.seen == 0 {
		a.seconds = d.Seconds()
	}
	a.seconds += weight * (d.Seconds() - a.seconds)
	a.seen++
}

// choose reports whether the next run is to be done alone.
func (a *adaptive) choose() (alone bool) {
	a.runs++
	const trials = 3 // of each way, before they are compared
	if a.together.seen < trials {
		return false
	}
	if a.alone.seen < trials {
		return true
	}
	alone = a.alone.seconds < a.together.seconds
	if a.runs%probeEvery == 0 {
		return !alone
	}
	return alone
}

func (a *adaptive) record(alone bool, took time.Duration) {
	if alone {
		a.alone.add(took)
	} else {
		a.together.add(took)
	}
}
