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
	failed  map[string][]time.Time // by address
}

func newDoor(log func(string)) *door {
	return &door{now: time.Now, log: log, failed: map[string][]time.Time{}}
}

// guest is a connection that may not have logged in yet.
type guest struct {
	net.Conn
	door *door
	once sync.Once

	sessions int // that have begun and not ended; guarded by door.mu
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
	if len(d.recent(from)) >= maxFailed || d.waiting >= maxWaiting {
		return nil
	}
	d.waiting++
	conn.SetDeadline(d.now().Add(loginTime))
	return &guest{Conn: conn, door: d}
}

// admitted ends the waiting of a connection that has a session.
func (g *guest) admitted() {
	g.once.Do(g.door.leave)
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	g.sessions++
	g.SetDeadline(time.Time{})
}

// ended gives a connection whose last session has ended as long for the next as there was for the first:
// those that stay without one are places that others lack.
func (g *guest) ended() {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	if g.sessions--; g.sessions == 0 {
		g.SetDeadline(g.door.now().Add(loginTime))
	}
}

// Close closes the connection and ends its waiting, if it waits.
func (g *guest) Close() error {
	g.once.Do(g.door.leave)
	return g.Conn.Close()
}

func (d *door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
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
