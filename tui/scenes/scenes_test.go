package scenes

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// played is a run at one moment after another.
type played struct {
	snap     *event.Snapshot
	commands []event.Command
}

func (p *played) Snapshot() *event.Snapshot { return p.snap }

func (p *played) Send(c event.Command) error {
	p.commands = append(p.commands, c)
	return nil
}

var begun = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// snapshot is a run after some seconds, with all that a scene has.
func snapshot(seconds float64, step int, p knob.Phase) *event.Snapshot {
	m := &event.Mapped{X: 0, Y: 1, Low: [2]float64{-1, 0}, High: [2]float64{1, 2.5}, Step: step, RealN: 9, SynN: 7, Mixed: 0.25, Relevance: "curiosity", FLow: 0.1, FHigh: 0.9}
	m.Real[3], m.Syn[5], m.F[3], m.F[4] = 9, 7, 0.5, math.NaN()
	return &event.Snapshot{
		Time: begun.Add(time.Duration(seconds * float64(time.Second))), State: event.Running, Step: step, Phase: p, PhaseDone: 4, PhaseTotal: 10, Updates: 80, Real: step, Synthetic: 500, Share: 0.25, WholeIn: 3 * time.Second,
		MixReal: 64, MixSynthetic: 32, Episode: 2, EpisodeStep: 7, EpisodeReturn: 1.5, Pose: []float64{0.25, -1}, Refits: 1, Map: m,
		Moment: &event.Moment{Step: step, Action: []float32{0.5}, Reward: 0.25, Q: 12, F: math.NaN(), V: math.NaN(), Twin: &event.Twin{Distance: 0.5, Reward: 0.75, F: 2}},
		Dreamt: &event.Dreamt{Step: step, Order: event.DreamsByF, Relevance: "curiosity", Looked: 9, Real: 90, Mixed: 0.25, Usual: math.NaN(), Rows: []event.Dream{
			{Rank: 1, F: 3, Return: 0.5, Truth: &event.Truth{State: []float32{1}, Action: []float32{0}, Predicted: []float32{2}, True: []float32{3}, Reward: 0.5, Errors: []float64{-1}, Off: 1, Poses: [3][]float64{{1}, {2}, {3}}}},
			{Rank: 5, F: 2, Truth: &event.Truth{State: []float32{1}, Action: []float32{0}, Predicted: []float32{2}, Reward: math.NaN(), Off: math.NaN()}},
		}},
	}
}

// recorded are the scenes of snapshots, looked at in turn.
func recorded(t *testing.T, all ...*event.Snapshot) (string, *played) {
	t.Helper()
	var b bytes.Buffer
	r, err := NewRecorder(&b, begun)
	if err != nil {
		t.Fatal(err)
	}
	p := &played{}
	for _, s := range all {
		p.snap = s
		if err := r.Look(p, s.Time); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), p
}

// shown is what a replay shows at a time, where its journal has come to a step.
func shown(t *testing.T, text string, seconds float64, step int) *event.Snapshot {
	t.Helper()
	reel, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &event.Snapshot{Step: step}
	reel.At(time.Duration(seconds*float64(time.Second)), step, s)
	return s
}

// A replay shows what a screen has shown, to four digits.
func TestAReplayShowsTheScenes(t *testing.T) {
	want := snapshot(3, 40, knob.Fit)
	text, _ := recorded(t, want)
	got := shown(t, text, 3.2, 40)
	if got.Step != 40 || got.Phase != knob.Fit || got.PhaseDone != 4 || got.PhaseTotal != 10 || got.Updates != 80 || got.Real != 40 || got.Synthetic != 500 || got.Share != 0.25 || got.WholeIn != 3*time.Second || got.MixReal != 64 || got.MixSynthetic != 32 ||
		got.Episode != 2 || got.EpisodeStep != 7 || got.EpisodeReturn != 1.5 || !reflect.DeepEqual(got.Pose, want.Pose) {
		t.Errorf("%+v", got)
	}
	if !math.IsNaN(got.Moment.F) || !math.IsNaN(got.Moment.V) || got.Moment.Q != 12 || *got.Moment.Twin != *want.Moment.Twin || got.Moment.Action[0] != 0.5 {
		t.Errorf("%+v", got.Moment)
	}
	if d := got.Dreamt; len(d.Rows) != 2 || !reflect.DeepEqual(d.Rows[0], want.Dreamt.Rows[0]) || d.Rows[1].Truth.True != nil || !math.IsNaN(d.Rows[1].Truth.Off) {
		t.Errorf("%+v", d)
	}
	if m := got.Map; m.Real != want.Map.Real || m.Syn != want.Map.Syn || m.F[3] != 0.5 || !math.IsNaN(m.F[4]) || m.High != want.Map.High || m.Mixed != 0.25 || got.Dreamt.Mixed != 0.25 {
		t.Errorf("%+v", m)
	}
}

// A scene is written for each phase and each half second; dreams and map are written when they are
// others. Only a run that trains is asked.
func TestWhenAScenesIsWritten(t *testing.T) {
	first, second := snapshot(0, 1, knob.Collect), snapshot(0.1, 2, knob.Collect)
	fit, later := snapshot(0.2, 2, knob.Fit), snapshot(0.9, 2, knob.Fit)
	second.Dreamt = first.Dreamt
	fit.Dreamt, fit.Map, later.Dreamt, later.Map = first.Dreamt, first.Map, first.Dreamt, first.Map
	text, p := recorded(t, first, second, fit, later)
	if n := strings.Count(text, `"wall_s"`); n != 3 {
		t.Errorf("%d scenes: %s", n, text)
	}
	if strings.Count(text, `"dreamt"`) != 1 || strings.Count(text, `"map"`) != 1 {
		t.Errorf("what has not changed is written again: %s", text)
	}
	if got := shown(t, text, 0.9, 2); got.Dreamt == nil || got.Map == nil {
		t.Error("a later scene has no dreams")
	}
	if len(p.commands) != 4 { // dreams with each scene and the map once: each moment is of its step
		t.Errorf("asked for %v", p.commands)
	}
	var b bytes.Buffer
	r, err := NewRecorder(&b, begun)
	if err == nil {
		err = r.End(&played{snap: later}, begun.Add(5*time.Second))
	}
	if got := shown(t, b.String(), 5, 2); err != nil || got.Moment == nil {
		t.Errorf("the last scene: %v, %s", err, b.String())
	}
	paused := snapshot(0, 1, knob.Collect)
	paused.State, paused.Moment = event.PausedState, nil
	if _, p := recorded(t, paused); len(p.commands) != 0 {
		t.Errorf("a paused run is asked for %v", p.commands)
	}
}

// In a run of days scenes are further apart, and each is shown until the next one.
func TestScenesOfALongRun(t *testing.T) {
	const day, after = 86_400., 43_200. // from here on a scene each 2.16 s
	for begin, want := range map[float64]time.Duration{0: every, 3600: every, after: 2160 * time.Millisecond, day: rarest, 30 * day: rarest} {
		if got := between(time.Duration(begin * float64(time.Second))); got != want || got >= outdated {
			t.Errorf("%v between scenes %v s after the begin, want %v", got, begin, want)
		}
	}
	var all []*event.Snapshot
	for i := range 50 {
		s := snapshot(after+float64(i)/10, 10+i, knob.Collect)
		s.Dreamt = nil
		all = append(all, s)
	}
	text, _ := recorded(t, all...)
	if n := strings.Count(text, `"wall_s"`); n != 3 {
		t.Errorf("%d scenes in 5 s", n)
	}
	for at := after; at < after+4; at += 0.5 {
		if got := shown(t, text, at, 60); got.Pose == nil {
			t.Errorf("none is shown %v s after the begin", at)
		}
	}
}

// Lines that were cut are left out, what was done twice is shown as it was done last, and a scene is
// neither shown long after it, nor before what the journal has.
func TestScenesOfABrokenRun(t *testing.T) {
	a, _ := recorded(t, snapshot(1, 10, knob.Collect), snapshot(2, 20, knob.Collect), snapshot(3, 30, knob.Collect))
	again, _ := recorded(t, snapshot(1.5, 15, knob.Fit))
	text := a[:len(a)-40] + again
	if got := shown(t, text, 1.6, 12); got.Step != 15 || got.Phase != knob.Fit {
		t.Errorf("%+v", got)
	}
	if got := shown(t, text, 1.2, 10); got.Step != 10 {
		t.Errorf("%+v", got)
	}
	if got := shown(t, text, 2.5, 0); got.Step != 15 {
		t.Errorf("what was done the first time is shown: %+v", got)
	}
	if got := shown(t, text, 60, 0); got.Pose != nil {
		t.Errorf("shown a minute later: %+v", got)
	}
	if got := shown(t, text, 1.6, 16); got.Pose == nil || got.Step != 16 {
		t.Errorf("a moment after the journal has gone on: %+v", got)
	}
	if got := shown(t, text, 3.5, 30); got.Pose != nil {
		t.Errorf("older than the journal: %+v", got)
	}
	if _, err := Read(strings.NewReader("{}x\n{\"phase\":99}\n")); err == nil {
		t.Error("lines that are no scenes")
	}
	if r, err := Read(strings.NewReader("")); err != nil || r.before(time.Hour) != -1 {
		t.Errorf("no lines: %v", err)
	}
	var none *Reel
	none.At(0, 0, &event.Snapshot{})
	if _, found := none.Next(knob.Fit, 0); found {
		t.Error("no scenes have a phase")
	}
}

// The next scene of a phase is found, also before the present one.
func TestTheNextSceneOfAPhase(t *testing.T) {
	text, _ := recorded(t, snapshot(1, 10, knob.Collect), snapshot(2, 10, knob.Fit), snapshot(3, 20, knob.Collect), snapshot(4, 20, knob.Fit))
	reel, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]time.Duration{0: 2 * time.Second, 2 * time.Second: 4 * time.Second, 5 * time.Second: 2 * time.Second} {
		if got, found := reel.Next(knob.Fit, after); !found || got != want {
			t.Errorf("after %v: %v, %v", after, got, found)
		}
	}
	if _, found := reel.Next(knob.Generate, 0); found {
		t.Error("a phase that never was")
	}
}
