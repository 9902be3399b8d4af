package remote

import (
	"errors"
	"net"
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// bareFolder is a run folder that forgets what is written.
type bareFolder struct{ dir string }

func (f bareFolder) Dir() string                  { return f.dir }
func (f bareFolder) Read(string) ([]byte, error)  { return nil, os.ErrNotExist }
func (f bareFolder) Replace(string, []byte) error { return nil }
func (f bareFolder) Remove(string) error          { return nil }
func (f bareFolder) Close() error                 { return nil }

// A client that says something else, and one too many, see the end of their connections at once. The
// server must close these: the garbage collector, which would do that later, is off.
func TestClientsThatAreNotServedAreClosed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	dir, err := os.MkdirTemp("", "p") // the name of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	s, err := Listen(Options{Folder: bareFolder{dir}, Viewers: NewViewers(func(int) {})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close("the test is over")
	var all []net.Conn
	defer func() { // so that the server need not wait for them
		for _, conn := range all {
			conn.Close()
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("unix", s.ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conn)
		conn.SetDeadline(time.Now().Add(time.Minute)) // of a test that fails
		return conn
	}
	ends := func(who string, conn net.Conn) {
		t.Helper()
		if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s reads %d bytes, %v", who, n, err)
		}
	}
	other := dial()
	if err := writeFrame(other, frameKeys, []byte("x")); err != nil {
		t.Fatal(err)
	}
	ends("a client that does not say hello", other)
	for range maxConnections {
		dial()
	}
	ends("one client too many", dial())
}
