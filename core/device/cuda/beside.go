package cuda

import (
	"errors"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
)

// beside is what a program has that is started beside others.
type beside struct {
	apart    bool // it has a workspace of its own
	cramped  bool // there is no room for one: Run makes its runs, in the workspace that all share
	own      driver.Ptr
	ownBytes int
	launch   func() error // of its graphs

	started  bool
	occasion uint64
	landed   bool // the run has ended, with err
	err      error
}

// Start implements device.Starter.
func (x *executable) Start(occasion uint64) error {
	d := x.device
	d.mu.Lock()
	defer d.mu.Unlock()
	x.end() // of a run that was given up
	if x.cramped {
		return nil
	}
	if !x.apart {
		x.apart, x.complete = true, false
		x.launch = func() error { return x.put(d) }
	}
	if err := x.prepare(occasion); err != nil {
		if full := (*device.OutOfMemory)(nil); errors.As(err, &full) {
			x.apart, x.cramped, x.complete = false, true, false
			return nil
		}
		return err
	}
	put := d.ctx.Beside
	if !x.target.Has("beside") {
		put = func(launch func() error) error { return launch() }
	}
	if err := d.failed(put(x.launch)); err != nil {
		return err
	}
	x.started, x.occasion = true, occasion
	return nil
}

// land waits for a run that was started and reads its results.
func (x *executable) land() {
	if !x.started || x.landed {
		return
	}
	x.landed = true
	if x.device.ctx == nil {
		x.err = errClosed
		return
	}
	if x.err = x.device.failed(x.device.ctx.Synchronize()); x.err == nil {
		x.err = x.finish(x.occasion)
	}
}

// end ends a run that was started.
func (x *executable) end() error {
	x.land()
	err := x.err
	x.started, x.landed, x.err = false, false, nil
	return err
}

// workspace is where the program makes what it uses itself.
func (x *executable) workspace() driver.Ptr {
	if x.apart {
		return x.own
	}
	return x.device.workspace
}

// takeWorkspace makes sure of the program's workspace.
func (x *executable) takeWorkspace() (err error) {
	d := x.device
	if !x.apart {
		return d.work(x.layout.work)
	}
	if x.ownBytes = x.layout.work; x.ownBytes > 0 {
		x.own, err = d.alloc(&d.used.Programs, x.ownBytes)
	}
	return err
}

func (x *executable) giveWorkspace() error {
	err := x.device.free(&x.device.used.Programs, x.own, x.ownBytes)
	x.own, x.ownBytes = 0, 0
	return err
}
