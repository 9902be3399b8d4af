package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// moods draws what an impatient user might do.
func moods(r *rand.Rand) event.Command {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	now := r.IntN(2) == 0
	switch r.IntN(9) {
	case 0:
		return event.SetKnob{Knob: "guidance", Value: pick("0", "1", "3", "7"), Now: now}
	case 1:
		return event.SetKnob{Knob: "relevance", Value: pick("curiosity", "td", "td-signed", "return", "reward", "none"), Now: now}
	case 2:
		return event.SetKnob{Knob: "ratio", Value: pick("0", "0.25", "0.5", "0.75", "1"), Now: now}
	case 3:
		return event.SetKnob{Knob: "hold", Value: pick("batch", "real")}
	case 4:
		return event.SetKnob{Knob: "refit_every", Value: pick("7", "20", "31")}
	case 5:
		return event.SetKnob{Knob: "generator_steps", Value: pick("4", "9", "10"), Now: now}
	case 6:
		return event.SetKnob{Knob: "samples", Value: pick("3", "8", "30"), Now: now}
	case 7:
		return event.Undo{ID: 1 + r.IntN(3), Now: now}
	}
	return event.SetKnob{Knob: "utd", Value: pick("1", "2", "5")}
}

// busy plays a run in which commands arrive and pauses happen at random slices.
func busy(t *testing.T, c config.Config, seed uint64) (*Lab, *memoryFolder) {
	w := newWorld()
	r := rand.New(rand.NewPCG(seed, 1))
	folder := &memoryFolder{}
	l := w.lab(t, c, folder)
	turn := func() {
		switch r.IntN(12) {
		case 0, 1:
			l.Send(moods(r))
		case 2:
			l.Send(event.Pause{})
			l.Send(moods(r))
			l.Send(event.Resume{})
		case 3:
			l.Send(event.Attach{})
			l.x.publish(l.x.now())
		}
	}
	for _, call := range []string{"step", "evaluation step", "fit to 2", "fit to 4", "fit to 8", "generate 1", "generate 2", "score curiosity 20"} {
		w.on(call, turn)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l, folder
}

// A run in which a user turned knobs is the same as one where a schedule turns them at the recorded
// positions; pauses and looks leave no trace.
func TestARunCanBeRepeatedFromItsJournal(t *testing.T) {
	turned, inside := 0, 0
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			config := newWorld().config()
			l, first := busy(t, config, seed)
			for _, c := range changesIn(l) {
				config.Schedule = append(config.Schedule, knob.Scheduled{At: c.Position, Knob: c.Knob, Value: c.To.String(), Now: c.Now}.String())
				turned++
				if c.Position.Phase != knob.AfterStep {
					inside++
				}
			}
			_, again := play(t, newWorld(), config)
			line, a, b, same, err := run.Diff(&first.journal, &again.journal)
			if err != nil || !same {
				t.Fatalf("seed %d: line %d is\n%s\nthe second time\n%s\nschedule %q (%v)", seed, line, a, b, config.Schedule, err)
			}
		})
	}
	if turned < 100 || inside < 20 {
		t.Errorf("only %d knobs turned, %d inside a step: this proves little", turned, inside)
	}
}

func TestPositionsOnlyGoForward(t *testing.T) {
	for seed := range uint64(20) {
		l, _ := busy(t, newWorld().config(), 1000+seed)
		found := changesIn(l)
		if !slices.IsSortedFunc(found, func(a, b event.KnobChanged) int { return inOrder(a.Position, b.Position) }) {
			t.Fatalf("seed %d: %+v", seed, found)
		}
	}
}

// Every change comes into force once, is replaced by the next one, or is still waiting at the end;
// and none comes into force before it was set.
func TestEveryChangeIsInForceAtMostOnce(t *testing.T) {
	for seed := range uint64(20) {
		l, _ := busy(t, newWorld().config(), 2000+seed)
		set := map[int]bool{}
		force := map[int]int{}
		for _, e := range l.Events(0) {
			switch b := e.Body.(type) {
			case event.KnobChanged:
				set[b.ID] = true
			case event.InForce:
				force[b.ID]++
				if !set[b.ID] || force[b.ID] > 1 {
					t.Errorf("seed %d: change %d set %v, in force %d times", seed, b.ID, set[b.ID], force[b.ID])
				}
			}
		}
		for _, w := range l.Snapshot().Waiting {
			if force[w.ID] > 0 {
				t.Errorf("seed %d: change %d is in force and waits", seed, w.ID)
			}
		}
	}
}

// The test compares the canonical journal of a run as it is written.
func TestJournalOfARun(t *testing.T) {
	c := newWorld().config()
	c.Steps, c.Evaluation.Every = 22, 20
	c.Schedule = []string{"20/fit:4:guidance=3!"}
	_, folder := play(t, newWorld(), c)
	var types []string
	for _, line := range strings.Split(strings.TrimSpace(folder.canonical(t)), "\n") {
		if !strings.HasPrefix(line, `{"type":"`) {
			t.Fatalf("line %s", line)
		}
		name, _, _ := strings.Cut(line[len(`{"type":"`):], `"`)
		types = append(types, name)
	}
	if got, want := fmt.Sprint(types), "[start knob refit evaluated dormant losses scores in_force evaluated dormant losses scores done]"; got != want {
		t.Errorf("lines of types %s, want %s", got, want)
	}
	for _, want := range []string{
		`{"type":"start","step":0,"task":"world","method":"pgr-curiosity","scale":"test","seed":7,"device":"cpu test"}`,
		`{"type":"knob","step":20,"id":1,"knob":"guidance","from":2,"to":3,"class":"generation","position":"20/fit:4","now":true,"hint":"ω does not act as asked below 8 sampler_steps"}`,
		`{"type":"in_force","step":21,"id":1,"knob":"guidance"}`,
		`{"type":"done","step":22,"steps":22}`,
	} {
		if !strings.Contains(folder.canonical(t), want+"\n") {
			t.Errorf("no line %s in\n%s", want, folder.canonical(t))
		}
	}
}
