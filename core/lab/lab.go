package lab

import (
	"context"
	"sync"
	"sync/atomic"

	"pgrlab/core/device"
	"pgrlab/core/run"
)

// Lab is one running experiment. Run is called once; all other methods may be
// called by anybody at any time.
type Lab struct {
	config   Config
	folder   *run.Folder // nil: nothing is written
	mailbox  chan Command
	snapshot atomic.Pointer[Snapshot]

	mu     sync.Mutex // of events
	events []Event
}

// New builds everything that a run of c needs. The folder belongs to the lab from
// now on; nil writes nothing. Run must be called, or Close.
func New(c Config, task Task, dev device.Device, folder *run.Folder) (*Lab, error) {
	panic("not yet")
}

// Run trains until all steps are made, Stop, the end of ctx or an error. It saves
// before it returns. After Stop or the last step the result is nil; after the end
// of ctx it is ErrInterrupted, wrapped with the context's cause.
func (l *Lab) Run(ctx context.Context) error { panic("not yet") }

// Config is what the run was made from.
func (l *Lab) Config() Config { return l.config }

// Snapshot is the latest state. It is never nil and costs nothing.
func (l *Lab) Snapshot() *Snapshot { return l.snapshot.Load() }

// Events returns the events from index from on. The slice must not be changed.
func (l *Lab) Events(from int) []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from >= len(l.events) {
		return nil
	}
	return l.events[max(from, 0):len(l.events):len(l.events)]
}

// Send asks for something. It never blocks: ErrBusy when too much was asked
// already, ErrEnded after the run.
func (l *Lab) Send(c Command) error {
	select {
	case l.mailbox <- c:
		return nil
	default:
		return ErrBusy
	}
}

// Fault says what becomes of a run that meets a loss that is not a number, or a
// full disk.
type Fault int

// The choices of OnFault.
const (
	// FaultPause waits for somebody to look at it.
	FaultPause Fault = iota
	// FaultFail ends the run: for runs that nobody watches.
	FaultFail
)

// OnFault chooses what becomes of the run; it is called before Run. The default
// is FaultPause.
func (l *Lab) OnFault(f Fault) { panic("not yet") }
