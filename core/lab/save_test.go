package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

var busySchedule = []string{
	"3:tau=0.5", "20/score:0:relevance=td", "20/fit:4:guidance=3", "22:relevance=td!", "33:ratio=0.25",
	"35:relevance=curiosity!", "36/fit:2:guidance=4!", "41:samples=7", "50:tau=0.25",
}

func TestARunGoesOnFromEveryBorder(t *testing.T) {
	for _, members := range []int{1, 2} {
		resumeEverywhere(t, 1, func(r record) *Lab {
			w := newWorld()
			c := w.config()
			c.Members, c.Schedule = members, busySchedule
			return w.lab(t, c, r)
		})
	}
}

// stopped plays l up to step and saves it.
func stopped(t *testing.T, l *Lab, step int) memory {
	t.Helper()
	x, now := l.x, l.x.now
	x.now = func() time.Time {
		x.gate.stopping = x.gate.stopping || x.position == knob.After(step)
		return now()
	}
	if err := x.run(context.Background()); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return saved(t, x)
}

// An evaluation or an analysis that has begun when the run is saved is not begun again, with knobs
// that were turned since.
func TestWhatHasBegunIsNotBegunAgain(t *testing.T) {
	for _, phase := range []knob.Phase{knob.Evaluate, knob.Analyse} {
		at, c := knob.At(30, phase, 0), newWorld().config()
		c.Evaluation.AnalyseEvery, c.Schedule = 30, []string{at.String() + ":relevance=reward"}
		_, whole := play(t, newWorld(), c)
		c.Schedule = nil
		l := newWorld().lab(t, c, nil)
		now, asked := l.x.now, false
		l.x.now = func() time.Time {
			if l.x.position == at && !asked {
				asked = true
				l.Send(event.SetKnob{Knob: "relevance", Value: "reward"})
				l.Send(event.Stop{})
			}
			return now()
		}
		if err := l.x.run(t.Context()); !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		w, rest := newWorld(), &memoryFolder{}
		second := w.lab(t, c, rest)
		if err := saved(t, l.x).load(second.x); err != nil {
			t.Fatal(err)
		}
		if err := second.x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := rest.canonical(t); got == "" || !strings.Contains(whole.canonical(t), got) || count(w.log, "evaluate episodes 2") > 0 {
			t.Errorf("from %s it writes\n%s\nof\n%s", at, got, whole.canonical(t))
		}
	}
}

func TestWhatCannotBeSavedOrLoaded(t *testing.T) {
	w := newWorld()
	var l *Lab
	w.on("fit to 4", func() {
		err := l.x.saveSections(func(string, func(io.Writer) error) error { return nil })
		if err == nil || err.Error() != "save run: the run is at work after 20/fit:2" {
			t.Errorf("in a slice: %v", err)
		}
	})
	l = w.lab(t, w.config(), nil)
	good := stopped(t, l, 25)
	two, small := w.config(), w.config()
	two.Members, small.Buffer, small.Knobs.Samples = 2, 10, 10
	edited := func(name string, edit func([]byte) []byte) memory {
		m := memory{names: slices.Clone(good.names), parts: map[string][]byte{}}
		for n, part := range good.parts {
			m.parts[n] = part
		}
		m.parts[name] = edit(slices.Clone(m.parts[name]))
		if m.parts[name] == nil {
			m.names = slices.DeleteFunc(m.names, func(n string) bool { return n == name })
		} else if !slices.Contains(m.names, name) {
			m.names = append(m.names, name)
		}
		return m
	}
	for want, load := range map[string]func() error{
		"1 members are saved, the cohort has 2": func() error { return good.load(w.lab(t, two, nil).x) },
		"loop: made by another version": func() error {
			return edited("loop", func(b []byte) []byte { return []byte("nonsense") }).load(w.lab(t, w.config(), nil).x)
		},
		"0/agent: ": func() error {
			return edited("0/agent", func(b []byte) []byte { return b[:len(b)/2] }).load(w.lab(t, w.config(), nil).x)
		},
		"1 bytes were not read": func() error {
			return edited("0/real", func(b []byte) []byte { return append(b, 0) }).load(w.lab(t, w.config(), nil).x)
		},
		"0/env was not saved": func() error {
			return edited("0/env", func([]byte) []byte { return nil }).load(w.lab(t, w.config(), nil).x)
		},
		"0/oracle: made by another version": func() error {
			return edited("0/oracle", func([]byte) []byte { return []byte{1} }).load(w.lab(t, w.config(), nil).x)
		},
		"room for 10": func() error { return good.load(w.lab(t, small, nil).x) },
	} {
		if err := load(); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
