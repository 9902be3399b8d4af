package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sort"
	"sync"
	"syscall"
	"time"

	"pgrlab/core/printable"
	"pgrlab/core/shell"
	"pgrlab/tui"
	"pgrlab/tui/theme"
)

func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// Dial connects to a lab.
type Dial func(ctx context.Context) (net.Conn, error)

// Socket connects to the lab behind a socket of this machine; dir is for messages.
func Socket(socket, dir string) Dial {
	return func(ctx context.Context) (net.Conn, error) { return dial(ctx, socket, dir) }
}

// InFolder connects to the lab that runs in a folder at the time of the call.
func InFolder(dir string) Dial {
	return func(ctx context.Context) (net.Conn, error) {
		socket, err := Find(dir)
		if err != nil {
			return nil, err
		}
		return dial(ctx, socket, dir)
	}
}

// dial connects to the lab behind a socket; dir is for messages.
func dial(ctx context.Context, socket, dir string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	switch {
	case err == nil:
		if err := trusted(conn); err != nil {
			conn.Close()
			return nil, fmt.Errorf("%s: its lab: %w", dir, err)
		}
		return conn, nil
	case refused(err), errors.Is(err, os.ErrNotExist):
		return nil, gone(dir, pidOf(socket))
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%s: its lab belongs to another user", dir)
	}
	return nil, fmt.Errorf("%s: reach its lab: %w", dir, err)
}

// Ask asks the lab behind a socket for pause, park, resume, stop, checkpoint, analyse or status,
// and waits until the lab has done so. by names who asks, dir names the run in messages.
func Ask(ctx context.Context, socket, dir, want, by string) (said string, err error) {
	return AskBy(ctx, Socket(socket, dir), dir, want, by)
}

// AskBy is Ask for a lab that dial connects to.
func AskBy(ctx context.Context, dial Dial, dir, want, by string) (said string, err error) {
	a, err := ask(ctx, dial, dir, want, by)
	return a.Said, err
}

func ask(ctx context.Context, dial Dial, dir, want, by string) (answer, error) {
	conn, err := dial(ctx)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	writeJSON(conn, frameHello, hello{Protocol: protocol, Want: want, Name: by}) // an error of the line shows in reading
	return readAnswer(ctx, conn, dir, io.Discard)
}

// lost says why a lab gave no answer.
func lost(ctx context.Context, dir string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: its lab has not answered in time: what was asked may still be done (longer with --timeout)", dir)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%s: its lab closed the line without a word: pgrlab train --resume %s continues it from the last checkpoint", dir, shell.Word(dir))
}

// readAnswer copies output to w until the answer comes.
func readAnswer(ctx context.Context, conn net.Conn, dir string, w io.Writer) (answer, error) {
	var buf [32 << 10]byte
	for {
		kind, content, err := readFrame(conn, buf[:])
		var broken errStream
		if errors.As(err, &broken) {
			return answer{}, fmt.Errorf("%s: %w", dir, broken)
		}
		if err != nil {
			return answer{}, lost(ctx, dir)
		}
		switch kind {
		case frameOutput:
			if _, err := w.Write(content); err != nil {
				return answer{}, fmt.Errorf("write to the terminal: %w", err)
			}
		case frameAnswer:
			var a answer
			if err := json.Unmarshal(content, &a); err != nil {
				return answer{}, lost(ctx, dir)
			}
			tidy(&a)
			if a.Error != "" {
				return a, fmt.Errorf("%s: %s", dir, a.Error)
			}
			return a, nil
		}
	}
}

// tidy makes an answer safe to show. The name of the run folder stays as it is, because it must
// name the folder.
func tidy(a *answer) {
	if a.Status == nil {
		printable.Fields(a)
		return
	}
	dir := a.Status.Dir
	printable.Fields(a)
	a.Status.Dir = dir
}

// Terminal is the terminal of a client.
type Terminal struct {
	Keys       io.Reader
	Output     io.Writer
	Size       tui.Size
	Sizes      <-chan tui.Size // later sizes; nil: the size stays the same
	Environ    map[string]string
	Characters theme.CharacterSet
	Plain      bool
	Name       string // who watches, shown to the others
	Watch      bool   // watch only: this screen never drives, and is drawn twice a second
	Guest      bool   // the person has no account here: the screen reads no other run

	Ended func() // called when the run is over, which closes the screen; may be nil
	// Past describes the run as it ended: this process then shows it until the person leaves. nil: the screen
	// closes with the run.
	Past    func() (tui.Options, error)
	Suspend func() // stops this process for its shell; nil: SuspendKey is an ordinary key

	More func(within time.Duration) bool // whether there are keys to read, now or within a time; nil: unknown
}

// Look is everything about the terminal that the drawing of a screen without pictures depends on: its
// size, its characters and its colours. Other variables, such as the language, leave it alone.
func (t Terminal) Look() string {
	r := theme.NewRenderer(io.Discard, environ(t.Environ))
	return fmt.Sprint(t.Size, t.Characters, r.ColorProfile(), r.HasDarkBackground())
}

// List asks all labs of the user on this machine for their status, the oldest first. It removes
// sockets of processes that have ended.
func List(ctx context.Context) []Status {
	var mu sync.Mutex
	var all []Status
	var asking sync.WaitGroup
	for _, dir := range places() {
		for _, socket := range sockets(dir) {
			asking.Go(func() {
				a, err := ask(ctx, Socket(socket, socket), socket, "status", "")
				switch {
				case err == nil && a.Status != nil:
				case dead(socket):
					if syscall.Kill(pidOf(socket), 0) == syscall.ESRCH { // else it may be about to listen
						unlist(socket)
					}
					return
				default:
					a.Status = silent(socket)
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, *a.Status)
			})
		}
	}
	asking.Wait()
	sort.Slice(all, func(i, j int) bool { return all[i].Started.Before(all[j].Started) })
	return all
}

// Look asks the lab that runs in a folder for its status.
func Look(ctx context.Context, dir string) (Status, error) {
	socket, err := Find(dir)
	if err != nil {
		return Status{}, err
	}
	a, err := ask(ctx, Socket(socket, dir), dir, "status", "")
	if err != nil || a.Status == nil {
		return Status{}, err
	}
	return *a.Status, nil
}
