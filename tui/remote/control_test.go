package remote

import (
	"context"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/run"
)

// garage is a lab that can be parked, or says why it cannot.
type garage struct {
	state  event.Snapshot
	events []event.Event
	broken string
	gone   string // the device is
}

func (g *garage) Snapshot() *event.Snapshot {
	s := g.state
	return &s
}

func (g *garage) Events(from int) []event.Event { return g.events[from:] }

func (g *garage) Send(c event.Command) error {
	if g.gone != "" {
		request := map[event.Command]string{event.Park{By: "ana"}: "park", event.Resume{By: "ana"}: "resume", event.Checkpoint{By: "ana"}: "checkpoint"}[c]
		g.events = append(g.events, event.Event{Index: len(g.events), Body: event.Refused{Knob: request, Reason: g.gone, By: "ana"}})
		return nil
	}
	if _, is := c.(event.Resume); is {
		if g.broken != "" {
			g.events = append(g.events, event.Event{Index: len(g.events), Body: event.Paused{Reason: g.broken}})
		} else {
			g.state.State = event.Running
		}
		return nil
	}
	p := event.Paused{By: c.(event.Park).By, Reason: "parked: the GPU's memory is free until the run is resumed"}
	if g.broken != "" {
		p.Reason = g.broken
	}
	g.state.State, g.state.Parked = event.PausedState, g.broken == ""
	g.events = append(g.events, event.Event{Index: len(g.events), Body: p})
	return nil
}

func TestPark(t *testing.T) {
	ask := func(g *garage, device string) string {
		s := &Server{o: Options{Lab: g, Dir: "runs/a", Config: config.Config{Device: device}}}
		said, err := park(context.Background(), s, "ana")
		if err != nil {
			return "error: " + err.Error()
		}
		return said
	}
	g := &garage{state: event.Snapshot{Step: 3, Steps: 9}}
	for _, c := range []struct {
		g            *garage
		device, want string
	}{
		{g, "cuda", "parked, its GPU memory is free, at step 3 of 9: runs/a"},
		{g, "cuda", "was parked already at step 3"},
		{&garage{}, "cpu", "saved and paused (it has no GPU to give back) at step 0"},
		{&garage{broken: "park: out of order"}, "cuda", "error: park: out of order"},
	} {
		if got := ask(c.g, c.device); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q …", got, c.want)
		}
	}
}

// A request that the lab refuses, or cannot carry out, ends with the lab's reason.
func TestRequestsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		request      string
		g            *garage
		device, want string
	}{
		{"resume", &garage{state: event.Snapshot{State: event.PausedState}}, "cuda", "resumed at step 0"},
		{"resume", &garage{state: event.Snapshot{State: event.PausedState}, broken: "still parked: no room"}, "cuda", "error: still parked: no room"},
		{"resume", &garage{state: event.Snapshot{State: event.PausedState}, gone: "the device is lost"}, "cuda", "error: the device is lost"},
		{"park", &garage{state: event.Snapshot{State: event.PausedState}, gone: "the device is lost"}, "cuda", "error: the device is lost"},
		{"checkpoint", &garage{state: event.Snapshot{State: event.PausedState}, gone: "the device is lost"}, "cuda", "error: the device is lost"},
	} {
		said, err := requests[c.request](t.Context(), &Server{o: Options{Lab: c.g, Dir: "runs/a", Config: config.Config{Device: c.device}}}, "ana")
		if err != nil {
			said = "error: " + err.Error()
		}
		if !strings.HasPrefix(said, c.want) {
			t.Errorf("%s: %q, want %q …", c.request, said, c.want)
		}
	}
}

// The returns of a run of several seeds are their means.
func TestStatusOfSeveralSeeds(t *testing.T) {
	g := &garage{}
	for i, r := range []run.Float{300, 100, 50, 250} {
		g.events = append(g.events, event.Event{Index: i, Step: 10 * (1 + i/2), Member: i % 2, Body: event.Evaluated{ReturnMean: r}})
	}
	s := &Server{o: Options{Lab: g, Viewers: NewViewers(func(int) {})}}
	if st := s.status(); *st.Return != 150 || *st.Best != 200 {
		t.Errorf("return %v, best %v, want 150 and 200", *st.Return, *st.Best)
	}
}
