package lab

import (
	"errors"
	"math"

	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/replica"
)

// host is the run as one of its members sees it. What a member reports while it computes beside
// another one is held back until the end of their turn, so that lines are in the order of the
// members.
type host struct {
	x      *experiment
	member *replica.Replica
	aside  bool     // it computes beside the first of its turn
	said   []func() // held back meanwhile
}

// say does work of the training goroutine: at once, or when the member is back from computing
// beside another one.
func (h *host) say(what func()) {
	if h.aside {
		h.said = append(h.said, what)
		return
	}
	what()
}

// back ends the member's time beside another one.
func (h *host) back() {
	h.aside = false
	for _, what := range h.said {
		what()
	}
	h.said = h.said[:0]
}

func (h *host) Emit(kind string, member int, body any) {
	h.say(func() { h.x.emit(kind, member, body) })
}

func (h *host) Diverged(member int, doing string, err error) error {
	if where := (*plan.NotFinite)(nil); !errors.As(err, &where) {
		return err
	}
	h.say(func() { h.x.diverged(member, doing, err) }) // the error that is dropped here is nil
	return nil
}

// Sampled writes down which changes a batch of the first member contains for the first time.
func (h *host) Sampled(member int, mix replay.Mix, ago int) {
	if x := h.x; member == 0 {
		began := x.position
		began.I -= ago
		full := x.config.Mix(&x.Settings, math.MaxInt)
		x.inForce(x.changes.Sampled(mix, full, began))
		if syn := x.members[member].Synthetic; mix.Synthetic == 0 && x.config.Explores() && syn != nil { // the explorer's batch
			x.inForce(x.changes.Sampled(replay.Mix{Synthetic: mix.Size()}, full, began))
		}
	}
}

// Fault writes the line and makes training wait. What could not be done is tried again, or left
// out, when training goes on.
func (h *host) Fault(member int, doing string, err error) {
	h.say(func() { h.x.faulted(member, doing, err) })
}
