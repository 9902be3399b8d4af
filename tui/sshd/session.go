package sshd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"pgrlab/core/printable"
	"pgrlab/tui"
)

// The contents of requests (RFC 4254, section 6).
type (
	envRequest  struct{ Name, Value string }
	execRequest struct{ Command string }
	ptyRequest  struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	windowRequest struct{ Columns, Rows, Width, Height uint32 }
	exitStatus    struct{ Status uint32 }
)

// session is one session of a connection: what the client has said about it before it starts a
// command or a shell.
type session struct {
	channel  ssh.Channel
	terminal *Terminal
	sizes    chan tui.Size
	environ  map[string]string
}

// session serves one session of a connection until either end closes it.
func (s *Server) session(ctx context.Context, g *guest, conn *ssh.ServerConn, channel ssh.Channel, requests <-chan *ssh.Request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	one := &session{channel: channel, sizes: make(chan tui.Size, 1), environ: map[string]string{}}
	ended := make(chan struct{})
	begun := false
	begin := func(command string) {
		begun = true
		go func() {
			defer close(ended)
			said, err := "", error(nil)
			person, err := s.person(conn)
			if err == nil {
				err = s.enter(person.Role)
			}
			if err == nil {
				g.admitted()
				defer s.visits.Done() // the visitor has read why it ends
				v := one.visit(person, command)
				v.cut = func() {
					select {
					case <-ended:
					default:
						g.Close()
					}
				}
				said, err = s.visit(ctx, v, conn)
				g.ended() // who does not take the last words has no more time than for a login
			}
			one.end(said, err)
		}()
	}
	for r := range requests { // until the channel ends
		ok, start := true, func() {}
		switch command := (execRequest{}); {
		case r.Type == "window-change":
			ok = one.resize(r.Payload)
		case begun:
			ok = false
		case r.Type == "env":
			ok = one.variable(r.Payload)
		case r.Type == "pty-req":
			ok = one.pty(r.Payload)
		case r.Type == "shell", r.Type == "exec" && ssh.Unmarshal(r.Payload, &command) == nil:
			start = func() { begin(command.Command) }
		default:
			ok = false
		}
		if r.WantReply {
			r.Reply(ok, nil)
		}
		start() // after the reply, because it may end the channel
	}
	cancel()
	if begun {
		<-ended
	}
	channel.Close()
}

// visit is the session as a Visit.
func (one *session) visit(p Person, command string) *Visit {
	v := &Visit{Person: p, Command: strings.Fields(command), Input: one.channel, Output: one.channel, Lines: one.channel, Terminal: one.terminal}
	if one.terminal != nil {
		v.Lines = raw{one.channel}
	}
	return v
}

// end sends the last message and hangs up.
func (one *session) end(said string, err error) {
	status := exitStatus{}
	if err != nil {
		said, status.Status = "pgrlab: "+err.Error(), 1
	}
	if said != "" {
		errs := io.Writer(one.channel.Stderr())
		if one.terminal != nil {
			errs = raw{errs}
		}
		fmt.Fprintln(errs, printable.Line(said))
	}
	one.channel.SendRequest("exit-status", false, ssh.Marshal(status))
	one.channel.Close()
}

// raw writes lines to a terminal that does not return to the first column by itself.
type raw struct{ io.Writer }

// Write writes p; it reports that either all or nothing was written.
func (r raw) Write(p []byte) (int, error) {
	if _, err := r.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pty notes the terminal.
func (one *session) pty(payload []byte) bool {
	var p ptyRequest
	if one.terminal != nil || ssh.Unmarshal(payload, &p) != nil {
		return false
	}
	one.environ["TERM"] = value(p.Term)
	one.terminal = &Terminal{Size: sizeOf(p.Columns, p.Rows), Sizes: one.sizes, Environ: one.environ}
	return true
}

// resize notes the terminal's newest size.
func (one *session) resize(payload []byte) bool {
	var w windowRequest
	if one.terminal == nil || ssh.Unmarshal(payload, &w) != nil {
		return false
	}
	select {
	case <-one.sizes:
	default:
	}
	one.sizes <- sizeOf(w.Columns, w.Rows) // no other goroutine sends
	return true
}

// variable notes a variable that says what a terminal can show, and ignores all others.
func (one *session) variable(payload []byte) bool {
	var e envRequest
	if ssh.Unmarshal(payload, &e) != nil {
		return false
	}
	switch e.Name {
	case "COLORTERM", "NO_COLOR", "COLORFGBG", "LANG", "LC_ALL", "LC_CTYPE", "TERM_PROGRAM":
		one.environ[e.Name] = value(e.Value)
		return true
	}
	return false
}

// value is the value of a variable, cut to a sensible length.
func value(text string) string {
	const longest = 100
	return printable.Line(text[:min(len(text), longest)])
}

// sizeOf is the size that a client claims, limited.
func sizeOf(columns, rows uint32) tui.Size {
	const most = 1 << 15
	return tui.Size{Columns: int(min(columns, most)), Rows: int(min(rows, most))}
}
