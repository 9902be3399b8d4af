package program

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgrlab/core/task"
	"pgrlab/core/testing/pace"
)

// holdVariable, set to SEED:STEP:SOCKET, makes a child wait in the middle of its training: before
// that call of Step of the training environment with that seed. A test that interrupts a run of a
// fixed length makes it wait there, however fast the machine is.
const holdVariable = "PGRLAB_TEST_HOLD"

// hold is a place where children wait.
type hold struct {
	t        *testing.T
	setting  string // the setting in the environment of a child
	listener *net.UnixListener
}

// held is a child that waits at a hold.
type held struct {
	pid  int
	conn net.Conn
}

// holdAt prepares a hold at an env step of the runs with a seed.
func holdAt(t *testing.T, seed uint64, step int) *hold {
	t.Helper()
	dir, err := os.MkdirTemp("", "hold") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		listener.Close()
		os.RemoveAll(dir)
	})
	return &hold{t, fmt.Sprintf("%s=%d:%d:%s", holdVariable, seed, step, socket), listener}
}

// await waits until a child has reached the hold.
func (h *hold) await() held {
	h.t.Helper()
	if limit, ok := h.t.Deadline(); ok {
		h.listener.SetDeadline(limit.Add(-spare))
	}
	conn, err := h.listener.Accept()
	if err != nil {
		h.t.Fatalf("no run came to its hold: %v", err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid == 0 {
		h.t.Fatalf("%q, %v", line, err)
	}
	h.t.Cleanup(func() { conn.Close() })
	return held{pid, conn}
}

// dies waits for the end of a child that was killed.
func (h held) dies() { io.Copy(io.Discard, h.conn) }

// release lets a child continue to its end; it is not held again.
func (h held) release() { h.conn.Close() }

// heldTasks returns the tasks with training environments that wait where holdVariable says.
func heldTasks(tasks []task.Task, setting string) []task.Task {
	parts := strings.SplitN(setting, ":", 3)
	seed, err := strconv.ParseUint(parts[0], 10, 64)
	if err != nil {
		panic(err)
	}
	step, err := strconv.Atoi(parts[1])
	if err != nil {
		panic(err)
	}
	var wait sync.Once
	return withSteps(tasks, func(s uint64, n int) {
		if s == seed && n == step {
			wait.Do(func() { waitAt(parts[2]) })
		}
	})
}

// waitAt reports to the test at the other end of a socket that this process waits, and returns when the
// test releases it or is itself gone.
func waitAt(socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintln(conn, os.Getpid())
	io.Copy(io.Discard, conn)
}

// spare is how long before the time limit of the test binary a wait gives up, so that it can report
// what it waited for.
const spare = 5 * time.Second

// eventually waits for an event in another process or goroutine, as long as the test binary may
// run, since machines differ in speed.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	var limit <-chan time.Time
	if deadline, ok := t.Deadline(); ok {
		limit = time.After(time.Until(deadline) - spare)
	}
	begin := time.Now()
	for pace.Look(); !happened(); pace.Look() {
		select {
		case <-time.After(min(5*time.Millisecond+time.Since(begin)/20, 100*time.Millisecond)): // to look costs time too
		case <-limit:
			t.Fatalf("never: %s", what)
		}
	}
}
