package cpu

import (
	"runtime"
	"time"
)

// task is a job that the pool does again and again.
type task struct {
	pool     *pool
	job      *job
	parts    int  // of a lane, at most
	small    bool // not worth a helper
	adaptive adaptive
}

// run keeps its thread: Go takes a goroutine off every ten milliseconds and lets it go
// on wherever a thread is free, which is another core as like as not, whose caches
// hold nothing of it. One worker gains an eighth.
func (t *task) run() {
	if t.small {
		t.job.alone()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if t.pool.workers == 1 {
		t.job.alone()
		return
	}
	t.adaptive.pairs = t.parts > 1
	start := time.Now()
	switch t.adaptive.choose() {
	case alone:
		t.job.alone()
	case pair:
		t.pool.run(t.job, 1)
	default:
		t.pool.run(t.job, t.parts)
	}
	t.adaptive.record(time.Since(start))
}

// adaptive chooses, for one task, whether the caller works with all of its helpers, with
// one, or alone, by what each took lately. On a machine whose cores are busy with
// other things two workers that wait for each other can be slower than one: a
// thread that loses its core in the middle of a lane is waited for. The choice
// never shows in the numbers.
//
// The way that lost is tried again from time to time, several runs in a row of
// which the first does not count: after a stretch of the other way the helper is
// asleep and half of the weights are in the other core's cache, which a single
// run pays for and a stretch does not. Only where runs are long is one enough.
type adaptive struct {
	ways   [3]average // by way
	way    way        // the one that is preferred
	pairs  bool       // pair is another way than together
	trying bool       // a trial of another one is under way
	tried  way        // that is tried, or was last
	since  int        // runs since the last trial began or ended
	every  int        // how many runs pass between trials now
	start  float64    // seconds of the preferred way after the last trial
}

// way is how a program's lanes are worked on.
type way int

const (
	together way = iota // by all workers
	alone               // by the caller
	pair                // by two workers, a lane each
)

// fewer says whether w takes fewer workers than v.
func (w way) fewer(v way) bool { return w != v && (w == alone || v == together) }

// next is the way that is tried after the one that was tried last.
func (a *adaptive) next() way {
	if !a.pairs {
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

// choose says how the next run is to be done.
func (a *adaptive) choose() way {
	if a.every == 0 { // the first run: see how it goes together, then try alone
		a.every, a.since = coldRuns+trialRuns, 0
	}
	if a.trying {
		return a.tried
	}
	return a.way
}

// record takes in what the run took that choose was asked for last.
func (a *adaptive) record(took time.Duration) {
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
func (a *adaptive) upset(took time.Duration) bool {
	if a.start == 0 {
		return took >= long
	}
	return a.since >= 2*trialRuns && a.ways[a.way].seconds > upset*a.start
}

// decide ends a trial.
func (a *adaptive) decide() {
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
		if best == alone && a.ways[alone].seconds >= long.Seconds() {
			a.every = soonestLong
		}
	}
	if best == alone {
		a.every = min(a.every, latestAlone)
	}
	a.way, a.start = best, a.ways[best].seconds
	a.trying, a.since = false, 0
}
