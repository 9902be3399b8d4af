// Package adapt chooses among several ways to do the same work by how long each took recently.
package adapt

import "time"

// Choice chooses how to do one piece of work that is repeated again and again: together by all
// workers, with one helper, or by each worker alone. On a machine whose cores are busy with other
// things, two workers that wait for each other can be slower than one: if a thread loses its core
// in the middle of a lane, the other waits for it. The choice never affects the numbers. The zero
// value is ready to use.
//
// The way that lost is tried again from time to time, in several consecutive runs. The first of
// them does not count: after a stretch of runs in the other way the helper is asleep and half of
// the weights are in the other core's cache, a cost that only the first run has. One run is enough
// only if runs are long.
type Choice struct {
	Pairs bool // Pair is a third way besides Together and Alone
	Fixed bool // always Together

	ways   [3]average // indexed by Way
	way    Way        // the preferred way
	trying bool       // a trial of another way is under way
	tried  Way        // the way being tried, or the last one tried
	since  int        // runs since the last trial began or ended
	every  int        // number of runs between trials
	start  float64    // seconds of the preferred way after the last trial
}

// Way is a way to do the work.
type Way int

const (
	Together Way = iota // by all workers
	Alone               // by as few as possible
	Pair                // by two
)

// fewer reports whether w uses fewer workers than v.
func (w Way) fewer(v Way) bool { return w != v && (w == Alone || v == Together) }

// next returns the way to try after the last one tried.
func (a *Choice) next() Way {
	if !a.Pairs {
		return 1 - a.way
	}
	w := (a.tried + 1) % 3
	if w == a.way {
		w = (w + 1) % 3
	}
	return w
}

const (
	// coldRuns is the number of runs that touch memory for the first time: they are not compared.
	coldRuns = 2
	// trialRuns is the number of runs in a trial, including the first.
	trialRuns = 4
	// long is the duration from which one run is a trial by itself.
	long = 10 * time.Millisecond
	// soonest and latest bound the number of runs between two trials. Trials become rarer as long
	// as they end like the last one. A caller that works alone cannot see that the machine has
	// become idle, so it tries more often.
	soonest, latest, latestAlone = 64, 512, 128
	// soonestLong replaces soonest for long runs that go alone: this way was chosen after a single
	// run of the other way, which something may have delayed.
	soonestLong = 8
	// upset is the growth of the preferred way's time that triggers a trial immediately, because
	// the machine has changed.
	upset = 1.5
	// outlier caps one run at this multiple of the average, so that a single hiccup decides
	// nothing.
	outlier = 4
	// margin is the factor by which fewer workers must be quicker to win: idle helpers cost
	// nothing.
	margin = 0.97
)

// average is a moving average of durations.
type average struct {
	seconds float64
	seen    int
}

// add takes in a duration: the mean of the first few, then an average with the given weight.
func (a *average) add(d time.Duration, weight float64) {
	s := d.Seconds()
	if a.seen > 0 {
		s = min(s, outlier*a.seconds)
	}
	a.seen++
	a.seconds += max(weight, 1/float64(a.seen)) * (s - a.seconds)
}

// Choose says how to do the next run.
func (a *Choice) Choose() Way {
	if a.Fixed {
		return Together
	}
	if a.every == 0 { // the first run: see how it goes together, then try alone
		a.every, a.since = coldRuns+trialRuns, 0
	}
	if a.trying {
		return a.tried
	}
	return a.way
}

// Record records how long the run took that the last Choose was for.
func (a *Choice) Record(took time.Duration) {
	a.since++
	tried, cold := &a.ways[a.tried], a.start == 0 && a.since <= coldRuns
	switch {
	case a.trying && a.since == 1:
		tried.seen = 0 // the past says less than the trial will
		if took >= long {
			tried.add(took, 1)
			a.decide()
		}
	case a.trying:
		if tried.add(took, 0); a.since == trialRuns {
			a.decide()
		}
	case !cold:
		a.ways[a.way].add(took, 0.05)
		if a.since >= a.every || a.upset(took) {
			a.trying, a.since, a.tried = true, 0, a.next()
		}
	}
}

// upset reports whether the preferred way takes so much longer than before that the other one
// should be tried immediately, because the machine has changed. If the first run was long enough,
// the other way is tried immediately too.
func (a *Choice) upset(took time.Duration) bool {
	if a.start == 0 {
		return took >= long
	}
	return a.since >= 2*trialRuns && a.ways[a.way].seconds > upset*a.start
}

// decide ends a trial.
func (a *Choice) decide() {
	best, rest := a.way, a.tried
	if best.fewer(rest) {
		best, rest = rest, best
	}
	if a.ways[rest].seconds < margin*a.ways[best].seconds {
		best = rest
	}
	if best == a.way && a.start > 0 {
		a.every = min(2*a.every, latest)
	} else {
		a.every = soonest
		if best == Alone && a.ways[Alone].seconds >= long.Seconds() {
			a.every = soonestLong
		}
	}
	if best == Alone {
		a.every = min(a.every, latestAlone)
	}
	a.way, a.start = best, a.ways[best].seconds
	a.trying, a.since = false, 0
}
