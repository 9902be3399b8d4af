package remote

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/tui"
	"pgrlab/tui/pane"
)

// garage is a lab that can be parked, or says why it cannot.
type garage struct {
	state   event.Snapshot
	events  []event.Event
	broken  string
	gone    string // the device is
	slow    int    // how many looks pass before the checkpoint of a park is on the disk
	unsaved string // why it cannot be written
	full    string // why training waits again as soon as it is resumed
}

// saved adds the checkpoint of the place, which comes some time after the pause, after another one.
func (g *garage) saved() {
	g.events = append(g.events, event.Event{Index: len(g.events), Body: event.Checkpointed{Obs: event.CheckpointObs{Position: knob.After(2), By: "cadence"}}})
	g.events = append(g.events, event.Event{Index: len(g.events), Body: event.Checkpointed{Obs: event.CheckpointObs{Position: g.state.Position, By: "park", Error: g.unsaved}}})
}

func (g *garage) Snapshot() *event.Snapshot {
	if g.slow > 0 {
		if g.slow--; g.slow == 0 {
			g.saved()
		}
	}
	s := g.state
	return &s
}

func (g *garage) Events(from int) []event.Event { return g.events[from:] }

func (g *garage) Send(c event.Command) error {
	if g.gone != "" {
		request := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", c), "event."))
		g.events = append(g.events, event.Event{Index: len(g.events), Body: event.Refused{Knob: request, Reason: g.gone, By: "ana"}})
		return nil
	}
	if _, is := c.(event.Resume); is {
		if g.full != "" {
			for _, b := range []any{event.Resumed{By: "ana"}, event.Paused{Reason: g.full}} {
				g.events = append(g.events, event.Event{Index: len(g.events), Body: b})
			}
		} else if g.broken != "" {
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
		s := &Server{o: Options{Lab: g, Folder: named("/runs/a"), Config: config.Config{Device: device}}}
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
		{g, "cuda", "parked, its GPU memory is free, at step 3 of 9: /runs/a"},
		{g, "cuda", "was parked already at step 3"},
		{&garage{state: event.Snapshot{Position: knob.After(3)}, slow: 9}, "cpu", "saved and paused (it has no GPU to give back) at step 0"},
		{&garage{state: event.Snapshot{Position: knob.After(3)}, slow: 9, unsaved: "no space left on device"}, "cpu", "error: save: no space left on device"},
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
		{"resume", &garage{state: event.Snapshot{State: event.PausedState}, full: "no space: training waits for room"}, "cpu", "error: no space: training waits for room"},
		{"resume", &garage{state: event.Snapshot{State: event.PausedState}, gone: "the device is lost"}, "cuda", "error: the device is lost"},
		{"park", &garage{state: event.Snapshot{State: event.PausedState}, gone: "the device is lost"}, "cuda", "error: the device is lost"},
		{"checkpoint", &garage{state: event.Snapshot{State: event.PausedState}, gone: "the device is lost"}, "cuda", "error: the device is lost"},
	} {
		said, err := requests[c.request](t.Context(), &Server{o: Options{Lab: c.g, Folder: named("/runs/a"), Config: config.Config{Device: c.device}}}, "ana")
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
	s := &Server{o: Options{Lab: g, Folder: named("/runs/a"), Viewers: NewViewers(func(int) {})}}
	if st := s.status(); *st.Return != 150 || *st.Best != 200 {
		t.Errorf("return %v, best %v, want 150 and 200", *st.Return, *st.Best)
	}
	g.events = append(g.events, event.Event{Index: 4, Step: 30, Body: event.Episode{}})
	for i, r := range []run.Float{10, 30} {
		g.events = append(g.events, event.Event{Index: 5 + i, Step: 30, Member: i, Body: event.Evaluated{ReturnMean: r}})
	}
	if st := s.status(); *st.Return != 20 || *st.Best != 200 {
		t.Errorf("later: return %v, best %v, want 20 and 200", *st.Return, *st.Best)
	}
}

// A pause until the disk takes something again is not the one that was asked for.
func TestPauseOutlastsTheDisk(t *testing.T) {
	g := &waiting{state: event.Snapshot{State: event.PausedState, Passing: true}}
	for _, want := range []string{"paused at step 0", "was paused already at step 0"} {
		said, err := requests["pause"](t.Context(), &Server{o: Options{Lab: g, Folder: named("/runs/a")}}, "ana")
		if err != nil || !strings.HasPrefix(said, want) || g.asked != 1 {
			t.Errorf("%q, %v, asked %d times; want %q", said, err, g.asked, want)
		}
	}
}

// waiting is a lab that waits for its disk.
type waiting struct {
	pane.Lab
	state event.Snapshot
	asked int
}

func (w *waiting) Snapshot() *event.Snapshot { s := w.state; return &s }

func (w *waiting) Send(event.Command) error {
	w.asked++
	w.state.Passing = false
	return nil
}

// named is a folder that is only named.
type named string

func (n named) Dir() string                { return string(n) }
func (named) Read(string) ([]byte, error)  { return nil, fs.ErrNotExist }
func (named) Replace(string, []byte) error { return nil }
func (named) Remove(string) error          { return nil }
func (named) Close() error                 { return nil }

// stopper is a lab that is busy for some requests, and then ends.
type stopper struct {
	pane.Lab
	busy  int
	ended chan struct{}
	end   event.Snapshot
}

func (s *stopper) Send(event.Command) error {
	if s.busy--; s.busy >= 0 {
		return event.ErrBusy
	}
	select {
	case <-s.ended:
		return event.ErrEnded
	default:
		close(s.ended)
	}
	return nil
}

func (s *stopper) Snapshot() *event.Snapshot { return &s.end }

// A screen that is left with stop and save ends the run, also one that was too busy at first, and does not
// say so of a run that trains on in another process.
func TestGoodbyeOfAScreenThatStopsTheRun(t *testing.T) {
	for _, c := range []struct {
		busy  int
		ended bool
		end   event.Snapshot
		want  answer
	}{
		{2, false, event.Snapshot{State: event.Finished, Step: 3, Steps: 9}, answer{Said: "stopped and saved at step 3 of 9: /runs/a"}},
		{0, true, event.Snapshot{State: event.Finished, Step: 3, Steps: 9}, answer{Said: "stopped and saved at step 3 of 9: /runs/a"}},
		{0, true, event.Snapshot{HandedOver: true}, answer{Error: "the run has just moved to another process, and goes on there: pgrlab stop /runs/a"}},
		{0, true, event.Snapshot{State: event.FailedState, Err: "no room"}, answer{Error: "no room"}},
	} {
		l := &stopper{busy: c.busy, ended: make(chan struct{}), end: c.end}
		if c.ended {
			close(l.ended)
		}
		s := &Server{ctx: t.Context(), o: Options{Lab: l, Folder: named("/runs/a"), Ended: l.ended}}
		if got := s.goodbye(hello{Name: "ana"}, tui.StopRequested, nil, false); got.Said != c.want.Said || got.Error != c.want.Error {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}
