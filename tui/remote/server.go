package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/printable"
	"pgrlab/tui"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// Options describe the lab that listens.
type Options struct {
	Folder  Folder // the lab's run folder, which Close closes
	Device  string // with the kernel family
	Lab     pane.Lab
	Viewers *Viewers
	Config  config.Config
	// Ended is closed when the run is over and has given its folder back.
	Ended <-chan struct{}
	// Screen gives the options for one more screen of the run; the server sets Start, Viewer,
	// Characters and Plain.
	Screen func() tui.Options
}

// Folder is the run folder of a lab: a run.Handle.
type Folder interface {
	Dir() string // where it is now
	Read(name string) ([]byte, error)
	Replace(name string, content []byte) error
	Remove(name string) error
	Close() error
}

// dir is where the lab's run folder is now.
func (s *Server) dir() string {
	dir := s.o.Folder.Dir()
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

const (
	// maxConnections is how many clients are served at the same time.
	maxConnections = 64
	// maxScreens is how many of them may be screens, which cost memory and time.
	maxScreens = 16
	// maxWatching is how many screens there may be for one more that only watches: the other places are
	// for those that may drive, such as the owner's.
	maxWatching = maxScreens - 4
	// helloTime is how long a client may take to send its request.
	helloTime = 5 * time.Second
	// farewell is how long the last frame to a client may take.
	farewell = time.Second
	// closing is how long screens may take to end before their connections are cut: more than a
	// screen needs that cannot write.
	closing = 4 * time.Second
)

// Server serves the screens and requests of one lab.
type Server struct {
	o       Options
	notice  Notice
	began   time.Time
	ln      *net.UnixListener
	ctx     context.Context // context of screens and requests
	cancel  context.CancelCauseFunc
	serving sync.WaitGroup
	screens atomic.Int32 // screens shown, or about to be refused
	leftAt  atomic.Int64 // when a screen that may drive was left last, in Unix seconds; 0: none was

	mu      sync.Mutex
	conns   map[net.Conn]bool
	returns history.History // of the events up to its Next, the evaluations
}

// Listen begins to serve a lab. After an error no other process can connect to the lab; the lab
// itself goes on.
func Listen(o Options) (*Server, error) {
	dir, err := place()
	if err != nil {
		return nil, fmt.Errorf("listen for pgrlab attach: %w", err)
	}
	ln, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("listen for pgrlab attach: %w", err)
	}
	host, _ := os.Hostname()
	s := &Server{o: o, ln: ln, began: time.Now(), conns: map[net.Conn]bool{}}
	s.notice = Notice{Host: host, PID: os.Getpid(), Socket: ln.Addr().String(), Started: s.began.UTC().Truncate(time.Second),
		Job: os.Getenv("SLURM_JOB_ID"), Node: os.Getenv("SLURMD_NODENAME")}
	if err := os.WriteFile(besideSocket(s.notice.Socket), []byte(s.dir()+"\n"), 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("listen for pgrlab attach: %w", err)
	}
	if err := s.notice.write(o.Folder); err != nil {
		ln.Close()
		return nil, fmt.Errorf("listen for pgrlab attach: %w", err)
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.serving.Add(1)
	go s.accept()
	return s, nil
}

// listen makes a socket with an unused name in a folder that only the user can enter.
func listen(dir string) (*net.UnixListener, error) {
	for n := 1; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%d-%d.sock", os.Getpid(), n))
		if _, err := os.Lstat(path); err == nil {
			if !dead(path) {
				continue // of this process, or of one with the same number in another namespace
			}
			os.Remove(path)
		}
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(path, 0o600); err != nil {
			ln.Close()
			return nil, err
		}
		return ln, nil
	}
}

// accept takes connections until the listener is closed.
func (s *Server) accept() {
	defer s.serving.Done()
	for {
		conn, err := s.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: others may release some
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		if !s.take(conn) {
			conn.Close()
			continue
		}
		go func() {
			defer s.release(conn)
			defer func() {
				if p := recover(); p != nil { // a failure with one client must not end the run
					fmt.Fprintf(os.Stderr, "attach: panic: %v\n%s", p, debug.Stack())
				}
			}()
			s.handle(conn)
		}()
	}
}

func (s *Server) take(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= maxConnections || s.ctx.Err() != nil {
		return false
	}
	s.conns[conn] = true
	s.serving.Add(1)
	return true
}

func (s *Server) release(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	delete(s.conns, conn)
	s.mu.Unlock()
	s.serving.Done()
}

// handle serves one client.
func (s *Server) handle(conn net.Conn) {
	if err := servable(conn); err != nil {
		return
	}
	conn.SetReadDeadline(time.Now().Add(helloTime))
	kind, text, err := readFrame(conn, nil)
	var h hello
	if err != nil || kind != frameHello || json.Unmarshal(text, &h) != nil {
		return
	}
	conn.SetReadDeadline(time.Time{})
	h.Name = readable(h.Name)
	var a answer
	switch {
	case h.Protocol != protocol:
		a.Error = "that lab runs another version of pgrlab: use the one it was started with"
	case h.Want == wantScreen, h.Want == wantWatch:
		if n := s.screens.Add(1); n <= placesFor(h) {
			a = s.screen(conn, h)
		} else {
			a.Error = fmt.Sprintf("that lab shows %d screens already: leave one of them", n-1)
		}
		s.screens.Add(-1)
	default:
		a = s.control(conn, h)
	}
	conn.SetWriteDeadline(time.Now().Add(farewell))
	writeJSON(conn, frameAnswer, a)
}

// placesFor is how many screens a lab shows together with the one that a client asks for.
func placesFor(h hello) int32 {
	if h.Want == wantWatch {
		return maxWatching
	}
	return maxScreens
}

// readable is a name that is safe in a line of a screen or of a journal.
func readable(name string) string {
	const maxRunes = 40
	clean := strings.TrimSpace(printable.Line(name))
	if r := []rune(clean); len(r) > maxRunes {
		clean = string(r[:maxRunes])
	}
	if clean == "" {
		return "unnamed"
	}
	return clean
}

// errMoved is why a server closes when the run goes on in another process.
var errMoved = errors.New("the run goes on in a process of its own")

// HandOver is Close for a run that goes on in another process: screens that can do so wait for it and
// connect to it.
func (s *Server) HandOver() { s.close(errMoved) }

// Close stops serving: it closes screens with one line that says why, answers the current requests,
// and removes the socket and the notice.
func (s *Server) Close(why string) { s.close(errors.New(why)) }

func (s *Server) close(why error) {
	s.ln.Close() // removes the socket
	os.Remove(besideSocket(s.notice.Socket))
	s.notice.remove(s.o.Folder)
	defer s.o.Folder.Close()
	s.cancel(why)
	done := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(done)
	}()
	t := time.NewTimer(closing)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
	}
	s.mu.Lock()
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	<-done
}
