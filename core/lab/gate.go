package lab

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// gate says whether training goes on after a slice, what it waits for (a person, a disk or a
// device), or why it ends. Anything may close the gate; a command opens it, or the return of
// what it waits for. It writes the lines about this and changes nothing else in the run.
type gate struct {
	common
	device parker // to be given back while the run waits; nil: there is no need

	pause    *event.Paused   // why training waits; nil: it does not
	resting  *event.Paused   // the last pause that waits for a change
	lent     *event.Paused   // the last pause that ends by itself, but for the disk's
	blamed   map[string]bool // faults that training has waited for already
	onFault  atomic.Int32    // a Fault
	faulty   *event.Paused   // the last pause that a fault made
	failure  string          // the same as the reason why the run ends, unless it is resumed
	disk     *diskWait       // what the disk does not take; nil: it takes everything
	parked   bool            // the device is given back
	gone     *DeviceGone     // the device cannot be used any more
	stopping bool
	ending   bool  // the last lines are being written: nothing waits any more
	broken   error // why the run cannot go on

	handedOver bool // another process goes on: nothing is written after the checkpoint
}

// waits says whether training has to wait here.
func (g *gate) waits(ctx context.Context) bool {
	return g.pause != nil && !g.stopping && ctx.Err() == nil
}

// wait makes training wait between two slices.
func (g *gate) wait(p event.Paused) {
	g.pause = &p
	g.journal.emit(event.TypePause, event.NoMember, p)
	g.meter.Pause()
}

// rest makes a run without an agent wait for the next change. No line says so: it is what such a run does.
func (g *gate) rest() {
	if g.pause == nil {
		g.pause = &event.Paused{}
		g.resting = g.pause
		g.meter.Pause()
	}
}

// wake ends that wait.
func (g *gate) wake() {
	if g.rests() {
		g.pause = nil
	}
}

// rests says whether the run waits for a change, and for nothing else.
func (g *gate) rests() bool { return g.pause != nil && g.pause == g.resting }

// request makes training wait as asked for: a person's pause outlasts one that ends by itself.
func (g *gate) request(c event.Pause) {
	if g.pause != nil && (c.Passing || !g.passes()) {
		return
	}
	g.wait(event.Paused{Reason: c.Reason, By: c.By})
	if c.Passing {
		g.lent = g.pause
	}
}

// passes says whether training waits for something that ends by itself.
func (g *gate) passes() bool { return g.pause != nil && g.pause == g.lent || g.forDisk() }

// open ends a wait. From now on every kind of fault can make training wait again.
func (g *gate) open(by string) {
	g.pause, g.disk = nil, nil
	clear(g.blamed)
	g.journal.emit(event.TypeResume, event.NoMember, event.Resumed{By: by})
	g.journal.flush()
}

// absent returns why the device cannot be used now, or nil.
func (g *gate) absent() error {
	switch {
	case g.gone != nil:
		return g.gone
	case g.parked:
		return errParked
	}
	return nil
}

// The kinds of faults.
const (
	faultLoss       = "loss"
	faultSimulation = "simulation"
)

// failsOnFault says whether a fault ends the run.
func (g *gate) failsOnFault() bool { return Fault(g.onFault.Load()) == FaultFail }

// choices say what can be done about a fault: in the pause that it makes, and once it has ended the
// run.
type choices struct{ paused, ended string }

// fault makes training wait, or ends the run, because of something that a person
// should see. Training waits once for each kind of fault until it is resumed.
func (g *gate) fault(kind, what string, c choices) {
	if g.blamed[kind] {
		return
	}
	g.blamed[kind] = true
	if g.failsOnFault() {
		if g.broken == nil {
			g.broken = errors.New(what + c.ended)
		}
		return
	}
	g.waitForPerson(what+c.paused, what+c.ended)
}

// waitForPerson makes training wait until a person has looked at a fault; failure is the reason if the run
// ends with it.
func (g *gate) waitForPerson(reason, failure string) {
	g.wait(event.Paused{Reason: reason})
	g.faulty, g.failure = g.pause, failure
}

// left ends a run that waits for someone to look at a fault, if no one is there any more.
func (g *gate) left() {
	if g.pause == nil || g.pause != g.faulty || !g.failsOnFault() {
		return
	}
	if g.broken == nil {
		g.broken = errors.New(g.failure)
	}
	g.pause = nil
}

const (
	// diskEvery is how often a run tries again what the disk did not take.
	diskEvery = 5 * time.Second
	// diskPatience is how long a run that no one watches keeps trying if the disk is not full
	// but broken, gone or read-only, before the run ends.
	diskPatience = 10 * time.Minute
)

// diskWait is what training waits for while the disk does not take the journal, or
// has no room for a checkpoint.
type diskWait struct {
	since time.Time
	err   error
	pause *event.Paused // the pause that it made; nil: there was one already
	look  time.Time     // when the disk is tried next; zero: diskEvery after it is waited for
}

// untilLook is how long the disk has not to be tried. Commands that come in between do not put that off:
// a screen may send some all the time.
func (d *diskWait) untilLook() time.Duration {
	if d.look.IsZero() {
		d.look = time.Now().Add(diskEvery)
	}
	return time.Until(d.look)
}

// forDisk says whether training waits for the disk alone: no one has asked for a pause.
func (g *gate) forDisk() bool { return g.disk != nil && g.pause != nil && g.pause == g.disk.pause }

// waitForDisk makes training wait until the disk takes what it refused. Nothing is computed
// meanwhile, and the lines stay in order.
func (g *gate) waitForDisk(err error) {
	if isForGood(err) {
		g.broken, g.pause = fmt.Errorf("step %d: %w", g.place.Step, err), nil
		return
	}
	if g.disk == nil {
		g.disk = &diskWait{since: g.now()}
	}
	d := g.disk
	d.err = err
	if g.ending {
		return
	}
	reason := fmt.Sprintf("%s: training tries again every %s", err, diskEvery)
	if run.IsFull(err) {
		reason = fmt.Sprintf("%s: training waits for room", err)
	}
	switch {
	case g.pause == nil:
		g.wait(event.Paused{Reason: reason}) // its line is refused as well, and waits after the others
		d.pause = g.pause
	case g.forDisk(): // the disk may fail for another reason now
		d.pause.Reason = reason
	}
}

// isForGood says whether an error of the run folder will not go away.
func isForGood(err error) bool { return errors.Is(err, run.ErrLost) || errors.Is(err, run.ErrGone) }

// losePatience ends, after diskPatience, a run that no one watches. A full disk is waited for
// without limit, because someone can make room; a broken one will not repair itself.
func (g *gate) losePatience() {
	d := g.disk
	if run.IsFull(d.err) || !g.failsOnFault() || g.now().Sub(d.since) < diskPatience {
		return
	}
	g.broken = fmt.Errorf("step %d: %w: for %s", g.place.Step, d.err, g.now().Sub(d.since).Round(time.Second))
	g.pause = nil
}
