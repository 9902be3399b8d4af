package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sort"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/shell"
	"pgrlab/tui"
	"pgrlab/tui/pane"
)

// environ are the environment variables of a viewer's terminal.
type environ map[string]string

// Environ lists the variables as NAME=VALUE.
func (e environ) Environ() []string {
	var all []string
	for k, v := range e {
		all = append(all, k+"="+v)
	}
	sort.Strings(all)
	return all
}

// Getenv returns one variable.
func (e environ) Getenv(name string) string { return e[name] }

// screen runs a screen for a viewer until either of them ends it.
func (s *Server) screen(conn net.Conn, h hello) answer {
	viewer := s.join(h)
	s.note(h, event.Attach{By: h.Name})
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	keys, typed := io.Pipe()
	sizes := make(chan tui.Size, 1)
	sizes <- limited(h.Size)
	go func() {
		err := listenTo(ctx, conn, typed, sizes)
		typed.CloseWithError(err) // the screen takes the end of its keyboard for a hang-up
	}()
	o := s.options(h)
	o.Viewer = viewer
	o.Start = func() (pane.Lab, error) { return viewer.Lab(s.o.Lab), nil }
	outcome, err := tui.Serve(ctx, o, tui.Viewer{Input: keys, Output: output{conn, func() bool { return s.movesOn(h) }}, Sizes: sizes, Environ: environ(h.Environ)})
	keys.Close()
	viewer.Leave()
	if h.Want == wantScreen {
		s.leftAt.Store(time.Now().Unix())
	}
	s.note(h, event.Detach{By: h.Name, Reason: outcome.String()})
	moves := s.movesOn(h)
	if moves && outcome != tui.Cancelled && !h.Plain { // left in the moment of the move
		conn.SetWriteDeadline(time.Now().Add(farewell))
		writeFrame(conn, frameOutput, []byte(tui.RestoreSequence))
	}
	return s.goodbye(h, outcome, err, moves)
}

// note puts a line about a screen that may drive into the journal. Those that only watch come and go as
// often as the people in front of them like, and change nothing.
func (s *Server) note(h hello, c event.Command) {
	if h.Want == wantScreen {
		s.o.Lab.Send(c) // if the mailbox is full only the note is lost
	}
}

// options are those of the screen that a client asked for, without viewer and start.
func (s *Server) options(h hello) tui.Options {
	o := s.o.Screen()
	h.prepare(&o)
	return o
}

// watchRefresh is how many times a second watching screens poll: there may be many.
const watchRefresh = 2

// prepare makes the options of a run's own screen those of the screen that a client asks for.
func (h hello) prepare(o *tui.Options) {
	if h.Want == wantWatch {
		o.About.Fork, o.About.WhatIf, o.Refresh = nil, nil, watchRefresh
		o.Pictures = "blocks" // one drawing may be for several terminals, and no terminal answers for them all
	}
	if h.Want == wantWatch || h.Guest {
		ownOnly(&o.About)
		o.Home = "" // the settings and the remembered commands of the person whose run it is
	}
	o.Characters, o.Plain, o.Remote, o.Seen = h.Characters, h.Plain, true, h.Seen
}

// join adds the screen that a client asked for.
func (s *Server) join(h hello) *Viewer {
	if h.Want == wantWatch {
		return s.o.Viewers.Watch(h.Name)
	}
	return s.o.Viewers.Join(h.Name)
}

// movesOn says whether a viewer's screen is about to be drawn by another process: what this one would
// write, to give the terminal back, is not for that viewer.
func (s *Server) movesOn(h hello) bool {
	return h.Follows && errors.Is(context.Cause(s.ctx), errMoved)
}

// left is when a screen that may drive was left last; zero: none was.
func (s *Server) left() time.Time {
	if at := s.leftAt.Load(); at > 0 {
		return time.Unix(at, 0).UTC()
	}
	return time.Time{}
}

// goodbye is the last message to a viewer.
func (s *Server) goodbye(h hello, outcome tui.Outcome, err error, moves bool) answer {
	snapshot := s.o.Lab.Snapshot()
	at := fmt.Sprintf("step %d of %d", snapshot.Step, snapshot.Steps)
	switch {
	case err != nil:
		return answer{Error: err.Error()}
	case outcome == tui.Cancelled && moves:
		return answer{Said: context.Cause(s.ctx).Error(), Moved: true, Step: snapshot.Step}
	case outcome == tui.Cancelled:
		return answer{Said: fmt.Sprintf("%v: %s", context.Cause(s.ctx), s.dir()), Ended: over(snapshot)}
	case outcome == tui.StopRequested:
		said, err := stop(s.ctx, s, h.Name) // the lab may have been too busy for the screen's request, or have moved before it
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Said: said}
	case over(snapshot):
		return answer{Said: fmt.Sprintf("detached; the run has ended at %s: %s", at, s.dir())}
	}
	return answer{Said: fmt.Sprintf("detached at %s; training goes on in pid %d: pgrlab attach %s", at, os.Getpid(), shell.Word(s.dir()))}
}

func over(s *event.Snapshot) bool { return s.State == event.Finished || s.State == event.FailedState }

// listenTo passes on what a viewer's terminal sends, until the connection breaks.
func listenTo(ctx context.Context, conn net.Conn, typed io.Writer, sizes chan tui.Size) error {
	buf := make([]byte, 4096)
	for {
		kind, content, err := readFrame(conn, buf)
		if err != nil {
			return io.EOF
		}
		if !receive(ctx, kind, content, typed, sizes) {
			return io.EOF
		}
	}
}

// receive takes a frame with keys or a size for a screen; false: it makes no sense.
func receive(ctx context.Context, kind byte, content []byte, typed io.Writer, sizes chan tui.Size) bool {
	switch kind {
	case frameKeys:
		typed.Write(content) // fails when the screen is gone; the connection is still read to its end
	case frameSize:
		size, ok := parseSize(content)
		if !ok {
			return false
		}
		select { // only the newest size counts
		case <-sizes:
		default:
		}
		select {
		case sizes <- size:
		case <-ctx.Done():
		}
	}
	return true
}
