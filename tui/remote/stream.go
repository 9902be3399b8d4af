package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// Bridge copies between in, out and the lab behind a socket until either end closes: it is the far
// end of Through.
func Bridge(ctx context.Context, socket, dir string, in io.Reader, out io.Writer) error {
	conn, err := dial(ctx, socket, dir)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	go func() {
		io.Copy(conn, in)
		conn.Close() // the client is gone
	}()
	if _, err = io.Copy(out, conn); errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Through connects to a lab through the input and output of a command whose other end is a Bridge
// on another machine; dir is for messages. The command ends with the connection.
func Through(dir, name string, args ...string) Dial {
	return func(context.Context) (net.Conn, error) {
		pair, err := socketpair()
		if err != nil {
			return nil, fmt.Errorf("%s: reach its lab: %w", dir, err)
		}
		near, far := os.NewFile(uintptr(pair[0]), "near"), os.NewFile(uintptr(pair[1]), "far")
		defer near.Close() // the connection has its own copy
		defer far.Close()
		conn, err := net.FileConn(near)
		if err != nil {
			return nil, fmt.Errorf("%s: reach its lab: %w", dir, err)
		}
		s := &stream{Conn: conn, name: name, ended: make(chan struct{})}
		c := exec.Command(name, args...)
		c.Stdin, c.Stdout, c.Stderr = far, far, &s.said
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // keys are for the screen, not for the command
		if err := c.Start(); err != nil {
			conn.Close()
			return nil, fmt.Errorf("%s: reach its lab: %w", dir, err)
		}
		go func() {
			s.err = c.Wait()
			close(s.ended)
		}()
		return s, nil
	}
}

// socketpair makes two connected sockets that no other child of this process gets. macOS has no flag
// for that, so none may be started meanwhile.
func socketpair() (pair [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if pair, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	return pair, err
}

// stream is the near end of a command's connection.
type stream struct {
	net.Conn
	name  string
	said  lockedBuffer
	ended chan struct{}
	err   error // of the command, once it has ended
}

// Read reads; at the end it returns what the command wrote about its failure.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n > 0 || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) { // reset: the command did not read everything
		return n, err
	}
	<-s.ended
	if s.err == nil {
		return 0, err
	}
	said := strings.TrimSpace(s.said.String())
	if said == "" {
		said = s.err.Error()
	}
	lines := strings.Split(said, "\n")
	return 0, errStream(s.name + ": " + strings.TrimPrefix(lines[0], s.name+": "))
}

// errStream is the message of a command that failed.
type errStream string

func (e errStream) Error() string { return string(e) }

// lockedBuffer keeps the beginning of a command's messages.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

// maxSaid is more bytes of a message than are shown.
const maxSaid = 1 << 12

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Buffer.Write(p[:min(len(p), max(0, maxSaid-b.Len()))])
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}
