package sshd

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// holding keeps the connections that it accepts: one that its server forgets is not closed by the
// garbage collector.
type holding struct {
	net.Listener
	accepted []net.Conn
}

func (h *holding) Accept() (net.Conn, error) {
	conn, err := h.Listener.Accept()
	if err == nil {
		h.accepted = append(h.accepted, conn)
	}
	return conn, err
}

// Every connection is closed by the server: that of a client who is refused at the door, of one without
// a right key, and of one that leaves.
func TestEveryConnectionIsClosed(t *testing.T) {
	_, alice := newKey(t, "alice")
	stranger, _ := newKey(t, "eve")
	keys, err := OpenKeys(keysFile(t, alice), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	host, _ := newKey(t, "host")
	s, err := Listen("127.0.0.1:0", Options{Keys: keys, Host: host, Sessions: 1, closing: time.Millisecond, Log: func(string) {}, Visit: func(context.Context, *Visit) (string, error) { return "", nil }})
	if err != nil {
		t.Fatal(err)
	}
	held := &holding{Listener: s.ln}
	s.ln = held
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(time.Minute)) // of a test that fails
		return conn
	}
	waiting := func(n int) {
		s.door.mu.Lock()
		defer s.door.mu.Unlock()
		s.door.waiting = n
	}
	waiting(maxWaiting)
	if n, err := dial().Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a client who was refused reads %d bytes, %v", n, err)
	}
	waiting(0)
	if _, _, _, err := ssh.NewClientConn(dial(), "", &ssh.ClientConfig{Auth: []ssh.AuthMethod{ssh.PublicKeys(stranger)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()}); err == nil {
		t.Error("a stranger came in")
	}
	dial().Close()
	s.Close(errors.New("the test is over"))
	if err := <-served; err != nil {
		t.Error(err)
	}
	if len(held.accepted) < 2 { // the last one may come too late
		t.Errorf("%d connections", len(held.accepted))
	}
	for i, conn := range held.accepted {
		if err := conn.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("connection %d was left open: %v", i, err)
		}
	}
}
