package sshd

import (
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// loginTime is how long a client may take from its first byte to a session, with the question
	// whether the fingerprint is right, which takes a person some time to compare. OpenSSH allows as
	// much.
	loginTime = 2 * time.Minute
	// maxWaiting is how many clients may be between these two: a class that answers that question.
	maxWaiting = 100
	// maxWaitingFrom is how many of them may come from one address once half of the places are taken:
	// many people can share an address, but one client is not to keep all others out.
	maxWaitingFrom = 10
	// maxFailed is how many logins from one address may fail within failedTime; after that the
	// address is refused for as long.
	maxFailed  = 10
	failedTime = time.Minute
)

// door counts the clients that have not logged in yet and the logins that failed.
type door struct {
	now func() time.Time
	log func(line string)

	mu      sync.Mutex
	waiting int
	from    map[string]int         // those that wait, by address
	failed  map[string][]time.Time // by address
}

func newDoor(log func(string)) *door {
	return &door{now: time.Now, log: log, from: map[string]int{}, failed: map[string][]time.Time{}}
}

// guest is a connection that may not have logged in yet.
type guest struct {
	net.Conn
	door *door
	from string

	// guarded by door.mu
	waits    bool
	sessions int // that have begun and not ended
}

// hangUp ends what is written to the guest, whose last words still arrive, and goes on reading. A
// connection that is closed while the guest is writing is reset, and what the guest has not read
// yet is lost.
func (g *guest) hangUp() {
	if half, can := g.Conn.(interface{ CloseWrite() error }); can {
		half.CloseWrite()
		return
	}
	g.Close()
}

// enter lets a connection in, or returns nil to refuse it.
func (d *door) enter(conn net.Conn) *guest {
	from := address(conn)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.recent(from)) >= maxFailed || !d.room(from) {
		return nil
	}
	g := &guest{Conn: conn, door: d, from: from}
	g.wait(1)
	g.SetDeadline(d.now().Add(loginTime))
	return g
}

// room says whether one more connection from an address may wait.
func (d *door) room(from string) bool {
	return d.waiting < maxWaiting && (d.waiting < maxWaiting/2 || d.from[from] < maxWaitingFrom)
}

// wait begins (1) or ends (-1) the waiting of a connection, unless it has begun or ended already.
func (g *guest) wait(by int) {
	d := g.door
	if g.waits == (by > 0) {
		return
	}
	g.waits = by > 0
	d.waiting += by
	if d.from[g.from] += by; d.from[g.from] == 0 {
		delete(d.from, g.from)
	}
}

// admitted ends the waiting of a connection that has a session.
func (g *guest) admitted() {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	g.wait(-1)
	g.sessions++
	g.SetDeadline(time.Time{})
}

// ended lets a connection whose last session has ended wait for the next as it did for the first, if there
// is room for it: those that stay without a session are places that others lack.
func (g *guest) ended() {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	if g.sessions--; g.sessions > 0 {
		return
	}
	left := closing // for the last words
	if g.door.room(g.from) {
		g.wait(1)
		left = loginTime
	}
	g.SetDeadline(g.door.now().Add(left))
}

// Close closes the connection and ends its waiting, if it waits.
func (g *guest) Close() error {
	g.door.mu.Lock()
	g.wait(-1)
	g.door.mu.Unlock()
	return g.Conn.Close()
}

// fail notes a login that failed.
func (d *door) fail(conn net.Conn) {
	from := address(conn)
	d.mu.Lock()
	defer d.mu.Unlock()
	all := append(d.recent(from), d.now())
	d.failed[from] = all
	switch {
	case len(all) == maxFailed:
		d.log(fmt.Sprintf("%s: %d logins failed within %v: refused for as long", from, maxFailed, failedTime))
	case len(all) < maxFailed:
		d.log(fmt.Sprintf("%s: no key of it may come in", from))
	}
}

// recent are the failures of an address within failedTime; it forgets older ones of all addresses.
func (d *door) recent(from string) []time.Time {
	since := d.now().Add(-failedTime)
	for a, all := range d.failed {
		for len(all) > 0 && all[0].Before(since) {
			all = all[1:]
		}
		if d.failed[a] = all; len(all) == 0 {
			delete(d.failed, a)
		}
	}
	return d.failed[from]
}

// address is the address of a connection's other end, without the port.
func address(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}
