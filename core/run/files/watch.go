package files

import (
	"fmt"
	"sync/atomic"
)

// Kind is a kind of change.
type Kind int

// The kinds of changes.
const (
	Created   Kind = iota // a new file, open as File
	Opened                // an existing file, opened for writing as File
	Wrote                 // Data at Offset of File
	Truncated             // File, at Offset
	Synced                // File
	MadeDir
	Renamed // Path, a file or folder, to To
	Linked  // Path as To
	Removed
	SyncedDir
)

func (k Kind) String() string {
	return [...]string{"create", "open", "write", "truncate", "sync", "mkdir", "rename", "link", "remove", "sync folder"}[k]
}

// Op is a change that is about to be made.
type Op struct {
	Kind     Kind
	Path, To string
	File     uint64 // identifies an open file, whose name may change
	Offset   int64
	Data     []byte // valid until the watcher returns
}

func (o Op) String() string {
	text := o.Kind.String() + " " + o.Path
	if o.To != "" {
		text += " to " + o.To
	}
	if o.Kind == Wrote {
		text += fmt.Sprintf(", %d bytes at %d", len(o.Data), o.Offset)
	}
	return text
}

// Torn is the error of a watcher that lets only so many bytes of a write happen.
type Torn int

func (t Torn) Error() string { return fmt.Sprintf("cut off after %d bytes", int(t)) }

var watcher atomic.Pointer[func(Op) error]

// Watch calls see before every change until stop is called. An error of see refuses the
// change. Watch is for tests, and there can be only one watcher at a time.
func Watch(see func(Op) error) (stop func()) {
	if !watcher.CompareAndSwap(nil, &see) {
		panic("files: two watchers")
	}
	return func() { watcher.Store(nil) }
}

func watched() bool { return watcher.Load() != nil }

func announce(o Op) error {
	if see := watcher.Load(); see != nil {
		return (*see)(o)
	}
	return nil
}
