package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
)

// heir is this process when it continues a run that another one hands over; see handover.go.
type heir struct {
	lock    *os.File
	orders  *os.File
	order   handoverOrder
	mu      sync.Mutex
	answers *os.File // nil: the last answer has been given
}

// newHeir takes over the files that the previous process has passed on.
func newHeir() (*heir, error) {
	h := &heir{}
	for fd, at := range map[uintptr]**os.File{successorLock: &h.lock, successorOrders: &h.orders, successorAnswers: &h.answers} {
		f := os.NewFile(fd, "handover")
		if f == nil {
			return nil, errors.New("closed")
		}
		if _, err := f.Stat(); err != nil {
			return nil, err
		}
		unix.CloseOnExec(int(fd))
		*at = f
	}
	return h, nil
}

// open is run.Open for a folder that is handed over: it reports that all is checked, waits for the
// order and adopts the lock.
func (h *heir) open(dir string) (*run.Folder, error) {
	h.send(handoverAnswer{Ready: true})
	if err := json.NewDecoder(h.orders).Decode(&h.order); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the process that has the run keeps it")
		}
		return nil, fmt.Errorf("take over %s: %w", dir, err)
	}
	h.orders.Close()
	lock := h.lock
	if h.order.Lease {
		lock.Close()
		lock = nil
	}
	return run.Adopt(dir, lock, h.order.From)
}

// send writes an answer; it does no harm if that is not read.
func (h *heir) send(a handoverAnswer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answers != nil {
		_ = json.NewEncoder(h.answers).Encode(a)
	}
}

// settled reports how the start went; only the first call has an effect.
func (h *heir) settled(err error) {
	if h.answers == nil {
		return
	}
	if err != nil {
		h.send(handoverAnswer{Error: cli.Line(err)})
	} else {
		h.send(handoverAnswer{Started: true})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers.Close()
	h.answers = nil
}
