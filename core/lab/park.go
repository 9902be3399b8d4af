package lab

import (
	"errors"

	"pgrlab/core/device"
	"pgrlab/core/event"
)

// parker is a device that can be given back while its programs wait.
type parker interface {
	// Park copies everything to the host and gives the device's memory back.
	Park() error
	// Wake takes the memory again; the error says why it cannot be had.
	Wake() error
}

// parkerOf returns the device as a parker; nil: it holds nothing that others wait for.
func parkerOf(dev device.Device) parker {
	p, _ := dev.(parker)
	return p
}

// errParked answers commands that would take the device again.
var errParked = errors.New("the run is parked: resume it first")

// park saves the run, gives the device back and pauses. If the device cannot be given back, the
// pause's reason says so.
func (ctl *control) park(c event.Park) {
	if ctl.gate.parked {
		return
	}
	ctl.asides.dropAll(errParked)
	ctl.checkpoints.here("park")
	ctl.gate.park(c.By)
}

// park gives the device back and closes the gate.
func (g *gate) park(by string) {
	p := event.Paused{By: by}
	if g.device != nil {
		if err := g.place.guarded(g.device.Park); err != nil {
			p.Reason = "park: " + err.Error()
		} else {
			g.parked, p.Reason = true, "parked: the GPU's memory is free until the run is resumed"
		}
	}
	if g.pause == nil || g.passes() || p.Reason != "" { // a park outlasts such a pause
		g.wait(p)
	}
}

// unpark takes the device again. If it cannot be had, the run stays parked and says so.
func (g *gate) unpark() bool {
	if !g.parked {
		return true
	}
	if err := g.place.guarded(g.device.Wake); err != nil {
		g.wait(event.Paused{Reason: "still parked: " + err.Error()})
		return false
	}
	g.parked = false
	return true
}
