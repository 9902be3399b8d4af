package sshd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"pgrlab/tui"
)

// Options configure a server.
type Options struct {
	Keys     *Keys
	Host     ssh.Signer
	Sessions int               // sessions at the same time; more are refused
	Idle     time.Duration     // ends a session without a key press for so long; 0: never
	Log      func(line string) // does not wait: visitors would wait too
	// Visit serves a visitor until the visit or ctx ends; its result is the last message to the
	// visitor.
	Visit func(ctx context.Context, v *Visit) (said string, err error)

	closing time.Duration // how long visitors have to read why they are ended; 0: closing
	still   time.Duration // how often keys are looked up again; 0: stillEvery
}

// Visit is one session of a visitor.
type Visit struct {
	Person
	Command []string  // the words after the host on the command line
	Input   io.Reader // its end is a hang-up
	Output  io.Writer // unchanged; lines for people go to Lines
	Lines   io.Writer
	// Terminal is the visitor's terminal; nil: there is none.
	Terminal *Terminal

	cut     func()        // closes the connection, unless the session has ended
	closing time.Duration // how long the visitor has to read the last output
}

// End gives the visitor some time to read the last output, and closes the connection then, unless the
// session has ended: a client that does not read leaves the visit in a write.
func (v *Visit) End() { time.AfterFunc(v.closing, v.cut) }

// Terminal is what is known of a visitor's terminal.
type Terminal struct {
	Size    tui.Size
	Sizes   <-chan tui.Size   // later sizes; only the newest one waits
	Environ map[string]string // TERM, and variables from the client that say what the terminal can show
}

// Server serves visitors.
type Server struct {
	o      Options
	ln     net.Listener
	config *ssh.ServerConfig
	door   *door
	ctx    context.Context // context of sessions
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	conns    map[*guest]bool
	sessions int
	visits   sync.WaitGroup // sessions, with their last words
	clients  sync.WaitGroup // connections
}

// Listen opens the address; call Serve to serve.
func Listen(address string, o Options) (*Server, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, ln: ln, door: newDoor(o.Log), conns: map[*guest]bool{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.config = &ssh.ServerConfig{ServerVersion: "SSH-2.0-pgrlab", PublicKeyCallback: s.mayCome}
	s.config.AddHostKey(o.Host)
	return s, nil
}

// withKey is the permissions' entry for the key that a connection has logged in with: clients may
// ask about other keys before.
const withKey = "key"

var errUnknownKey = errors.New("that key may not come in")

func (s *Server) mayCome(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
	if _, found := s.o.Keys.Find(key); !found {
		return nil, errUnknownKey
	}
	return &ssh.Permissions{Extensions: map[string]string{withKey: string(key.Marshal())}}, nil
}

// Addr is the address on which the server listens.
func (s *Server) Addr() net.Addr { return s.ln.Addr() }

// Serve serves until Close.
func (s *Server) Serve() error {
	for {
		conn, err := s.ln.Accept()
		switch {
		case s.ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // out of descriptors: others may release some
			select {
			case <-s.ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		switch g := s.door.enter(conn); {
		case g == nil:
			conn.Close()
		case s.keep(g):
			go s.client(g)
		default:
			g.Close()
		}
	}
}

// maxSessions is how many sessions a connection has at the same time, as OpenSSH's default: what a guest
// sends before one begins waits in memory.
const maxSessions = 10

// keep counts a connection, unless the server is closing or has as many as can have sessions or wait for one.
func (s *Server) keep(conn *guest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || len(s.conns) >= s.o.Sessions+maxWaiting {
		return false
	}
	s.conns[conn] = true
	s.clients.Add(1)
	return true
}

// client serves a connection.
func (s *Server) client(g *guest) {
	defer func() {
		g.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, g)
		s.clients.Done()
	}()
	conn, channels, requests, err := ssh.NewServerConn(g, s.config)
	if err != nil {
		var refused *ssh.ServerAuthError
		if errors.As(err, &refused) && len(refused.Errors) > 0 {
			s.door.fail(g)
		}
		return
	}
	go ssh.DiscardRequests(requests)
	ctx, cancel := context.WithCancel(context.Background())
	var sessions sync.WaitGroup
	var open atomic.Int32
	for offered := range channels {
		if offered.ChannelType() != "session" {
			offered.Reject(ssh.UnknownChannelType, "only sessions are served")
			continue
		}
		if open.Load() >= maxSessions {
			offered.Reject(ssh.ResourceShortage, "too many sessions on one connection")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			continue
		}
		open.Add(1)
		sessions.Go(func() {
			defer open.Add(-1)
			s.session(ctx, g, conn, channel, requests)
		})
	}
	cancel() // the connection is gone
	sessions.Wait()
}

// closing is how long visitors have to read the reason.
const closing = 2 * time.Second

// Close ends all visits and says why.
func (s *Server) Close(why error) {
	s.mu.Lock() // so that nothing is counted after this
	s.cancel(why)
	s.mu.Unlock()
	s.ln.Close()
	end := time.NewTimer(cmp.Or(s.o.closing, closing))
	defer end.Stop()
	if until(s.visits.Wait, end) && !until(s.clients.Wait, time.NewTimer(leaving)) {
		s.eachConn((*guest).hangUp)
		until(s.clients.Wait, end)
	}
	s.eachConn(func(g *guest) { g.Close() })
	s.clients.Wait()
}

// leaving is how long clients have to leave by themselves after their sessions. OpenSSH's client does,
// once it has shown what it was sent; if the connection ends before, it shows no more of that.
const leaving = 2 * time.Second

// until waits for something, but not beyond the timer, and says whether it has come.
func until(wait func(), end *time.Timer) bool {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-end.C:
		return false
	}
}

func (s *Server) eachConn(do func(*guest)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		do(conn)
	}
}

// keptForDriving is how many sessions are kept for keys that drive; of fewer than twice as many, half are.
const keptForDriving = 4

// enter counts a visit if there is room for it, until leave and visits.Done.
func (s *Server) enter(role Role) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case s.sessions >= s.o.Sessions:
		return fmt.Errorf("all %d places are taken: come again later", s.o.Sessions)
	case role == Watch && s.sessions >= s.o.Sessions-min(keptForDriving, s.o.Sessions/2):
		return errors.New("the places that are left are for keys that drive: come again later")
	}
	s.sessions++
	s.visits.Add(1)
	return nil
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions--
}

// person is the person who has logged in on a connection.
func (s *Server) person(conn *ssh.ServerConn) (Person, error) {
	key, err := ssh.ParsePublicKey([]byte(conn.Permissions.Extensions[withKey]))
	if err != nil {
		return Person{}, err
	}
	p, found := s.o.Keys.Find(key)
	if !found {
		return p, errors.New("your key may not come in any more")
	}
	return p, nil
}

// stillEvery is how often the key of a visitor is looked up again.
const stillEvery = 2 * time.Second

// watch ends a visit, by end, once the visitor's key is taken away or has another role.
func (s *Server) watch(ctx context.Context, v *Visit, conn *ssh.ServerConn, end func(error)) {
	tick := time.NewTicker(cmp.Or(s.o.still, stillEvery))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := s.person(conn)
		if err == nil && now.Role != v.Role {
			err = fmt.Errorf("your key may %s now: come in again", now.Role)
		}
		if err != nil {
			end(err)
			return
		}
	}
}

// visit hands a visitor over to Options.Visit, and returns the last message.
func (s *Server) visit(ctx context.Context, v *Visit, conn *ssh.ServerConn) (said string, err error) {
	defer s.leave()
	began, from := time.Now(), conn.RemoteAddr()
	s.o.Log(fmt.Sprintf("%s from %s (%s)", v.Name, from, v.Role))
	defer func() {
		if p := recover(); p != nil { // a failure with one visitor must not end the server
			s.o.Log(fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
			said, err = "", errors.New("pgrlab serve made a mistake: its log has it")
		}
		s.o.Log(fmt.Sprintf("%s from %s left after %v", v.Name, from, time.Since(began).Round(time.Second)))
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	v.closing = cmp.Or(s.o.closing, closing)
	end := func(why error) {
		cancel(why)
		v.End()
	}
	go s.watch(ctx, v, conn, end)
	if s.o.Idle > 0 {
		input := &attentive{Reader: v.Input, idle: s.o.Idle}
		input.timer = time.AfterFunc(s.o.Idle, func() { end(fmt.Errorf("no key for %v", s.o.Idle)) })
		defer input.timer.Stop()
		v.Input = input
	}
	return s.o.Visit(ctx, v)
}

// attentive notes the time of the last key.
type attentive struct {
	io.Reader
	timer *time.Timer
	idle  time.Duration
}

// Read reads keys.
func (a *attentive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.timer.Reset(a.idle)
	}
	return n, err
}
