// Package adapt chooses among several ways to do the same work by what each took lately.
package adapt

import "time"

// Choice is that of one piece of work that is done again and again: together by all
// workers, with one helper, or by each worker alone. On a machine whose cores are busy with
// other things two workers that wait for each other can be slower than one: a
// thread that loses its core in the middle of a lane is waited for. The choice
// never shows in the numbers. The zero value is ready.
//
// The way that lost is tried again from time to time, several runs in a row of
// which the first does not count: after a stretch of the other way the helper is
// asleep and half of the weights are in the other core's cache, which a single
// run pays for and a stretch does not. Only where runs are long is one enough.
type Choice struct {
	Pairs bool // Pair is another way than Together
	Fixed bool // it is always Together

	ways   [3]average // by way
	way    Way        // the one that is preferred
	trying bool       // a trial of another one is under way
	tried  Way        // that is tried, or was last
	since  int        // runs since the last trial began or ended
	every  int        // how many runs pass between trials now
	start  float64    // seconds of the preferred way after the last trial
}

// Way is one to do the work.
type Way int

const (
	Together Way = iota // by all workers
	Alone               // by as few as can
	Pair                // by two
)

// fewer says whether w takes fewer workers than v.
func (w Way) fewer(v Way) bool { return w != v && (w == Alone || v == Together) }

// next is the way that is tried after the one that was tried last.
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
	// coldRuns touch memory for the first time: they are not compared.
	coldRuns = 2
	// trialRuns are a trial, its first run included.
	trialRuns = 4
	// long is what a run takes that is a trial by itself.
	long = 10 * time.Millisecond
	// soonest and latest bound the runs between two trials, which become rarer
	// while they end as the last one did. A caller that works alone cannot see
	// that the machine has become idle: it tries more often.
	soonest, latest, latestAlone = 64, 512, 128
	// soonestLong is soonest of long runs that go alone: these were chosen by a single
	// run of the other way, which something may have held up.
	soonestLong = 8
	// upset is the growth of the preferred way's time that calls for a trial at
	// once: the machine has changed.
	upset = 1.5
	// outlier bounds how many times the average one run counts, so that a single
	// hiccup decides nothing.
	outlier = 4
	// margin is what fewer workers must win by: helpers that have nothing to do cost nothing.
	margin = 0.97
)

// average is a moving average of durations.
type average struct {
	seconds float64
	seen    int
}

// add takes in a duration: the mean of the first few, then with that weight.
func (a *average) add(d time.Duration, weight float64) {
	s := d.Seconds()
	if a.seen > 0 {
		s = min(s, outlier*a.seconds)
	}
	a.seen++
	a.seconds += max(weight, 1/float64(a.seen)) * (s - a.seconds)
}

// Choose says how the next run is to be done.
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

// Record takes in what the run took that Choose was asked for last.
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

// upset reports whether the preferred way takes so much longer than it did that
// the other one should be tried at once: the machine has changed. After a first
// run that was long enough nothing is waited for either.
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
