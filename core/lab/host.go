package lab

import (
	"fmt"
	"math"

	"pgrlab/core/event"
	"pgrlab/core/replay"
)

// host is the run as its members see it.
type host struct{ x *experiment }

func (h host) Emit(kind string, who int, body any) { h.x.emit(kind, who, body) }

func (h host) Diverged(who int, doing string, err error) error { return h.x.diverged(who, doing, err) }

// Sampled writes down which changes a batch of the first member contains for the first time.
func (h host) Sampled(who int, mix replay.Mix) {
	if x := h.x; who == 0 {
		x.inForce(x.changes.Sampled(mix, x.config.Mix(&x.Settings, math.MaxInt)))
	}
}

// Fault writes the line and makes training wait: what could not be done is tried again, or
// left out, when training goes on.
func (h host) Fault(who int, doing string, err error) {
	x := h.x
	obs := x.checkpoints.keepLast()
	x.emit(event.TypeDiverged, who, event.Diverged{Doing: doing, Position: x.position, Error: err.Error(), Obs: obs})
	x.gate.fault(faultSimulation, fmt.Sprintf("step %d: %s: %v%s", x.Step, doing, err, wayBack(obs)))
}
