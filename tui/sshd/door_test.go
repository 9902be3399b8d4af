package sshd

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// from is a connection from a given address.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", f.address+":1234")
	return a
}
func (f from) Close() error                { return nil }
func (f from) SetDeadline(time.Time) error { return nil }

// An address with too many failed logins is refused for a while; other addresses are not.
func TestFailedLoginsAreCounted(t *testing.T) {
	now := time.Unix(0, 0)
	d := newDoor(func(string) {})
	d.now = func() time.Time { return now }
	bad, good := from{address: "192.0.2.1"}, from{address: "192.0.2.2"}
	for range maxFailed {
		g := d.enter(bad)
		if g == nil {
			t.Fatal("refused too early")
		}
		d.fail(bad)
		g.Close()
	}
	if d.enter(bad) != nil {
		t.Error("it may go on trying")
	}
	if d.enter(good) == nil {
		t.Error("another address is refused too")
	}
	now = now.Add(failedTime + time.Second)
	if d.enter(bad) == nil {
		t.Error("it is refused for ever")
	}
	if len(d.failed) != 0 {
		t.Errorf("it remembers %v", d.failed)
	}
}

// hasty is a connection that notes how long it may take.
type hasty struct {
	from
	until time.Time
}

func (h *hasty) SetDeadline(t time.Time) error { h.until = t; return nil }

// A person who compares the server's fingerprint before answering has two minutes, as with OpenSSH.
func TestThereIsTimeForTheFingerprint(t *testing.T) {
	d, now := newDoor(func(string) {}), time.Unix(1000, 0)
	d.now = func() time.Time { return now }
	h := &hasty{from: from{address: "192.0.2.1"}}
	g := d.enter(h)
	if got := h.until.Sub(now); got != 2*time.Minute {
		t.Errorf("a login may take %v", got)
	}
	if g.admitted(); !h.until.IsZero() {
		t.Error("so may a session")
	}
	g.admitted()
	if g.ended(); !h.until.IsZero() {
		t.Error("one of two sessions goes on")
	}
	if g.ended(); h.until.Sub(now) != 2*time.Minute {
		t.Error("a connection without a session stays for ever")
	}
}

// The number of connections that may wait for their login at a time is limited. Connections with a
// session, and closed ones, do not count.
func TestWaitingClientsAreFew(t *testing.T) {
	d := newDoor(func(string) {})
	var all []*guest
	for n := range maxWaiting {
		all = append(all, d.enter(from{address: fmt.Sprintf("192.0.1.%d", n/maxWaitingFrom)}))
	}
	if d.enter(from{address: "192.0.2.9"}) != nil {
		t.Fatal("one too many")
	}
	all[0].Close()
	all[0].Close()
	all[1].admitted()
	all[1].Close()
	for i := range 2 {
		if all[i] = d.enter(from{address: "192.0.2.9"}); all[i] == nil {
			t.Fatalf("%d places are free, not 2", i)
		}
	}
	if d.enter(from{address: "192.0.2.9"}) != nil {
		t.Error("a place was given back twice")
	}
}

// Connections from one address do not take the places of all others, neither those that never log in nor
// those that stay after a session.
func TestOneAddressLeavesRoom(t *testing.T) {
	d := newDoor(func(string) {})
	greedy := func() (all []*guest) {
		for g := d.enter(from{address: "192.0.2.1"}); g != nil; g = d.enter(from{address: "192.0.2.1"}) {
			all = append(all, g)
		}
		return all
	}
	first := greedy()
	for _, g := range first {
		g.admitted()
	}
	second := greedy()
	for _, g := range first {
		g.ended()
	}
	if len(first) != maxWaiting/2 || len(second) != maxWaiting/2 || d.waiting != maxWaiting/2 {
		t.Errorf("%d and %d of one address come in, %d wait", len(first), len(second), d.waiting)
	}
	for n := range maxWaitingFrom {
		if d.enter(from{address: "192.0.2.2"}) == nil {
			t.Errorf("only %d of another address come in", n)
		}
	}
	if d.enter(from{address: "192.0.2.2"}) != nil {
		t.Error("so do more than are allowed while places are few")
	}
	for _, g := range append(first, second...) {
		g.Close()
	}
	if d.waiting != maxWaitingFrom || len(d.from) != 1 {
		t.Errorf("%d of %v wait", d.waiting, d.from)
	}
}
