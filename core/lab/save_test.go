package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgrlab/core/device/cpu"
)

// stopped plays l up to step and saves it there.
func stopped(t *testing.T, l *Lab, step int) []byte {
	t.Helper()
	var b bytes.Buffer
	x, now := l.x, l.x.now
	x.now = func() time.Time {
		x.stopping = x.stopping || x.position == After(step)
		return now()
	}
	if err := x.run(context.Background()); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if err := x.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// goneOn is the journal of a run that is saved at step and goes on in a new lab.
func goneOn(t *testing.T, step int, begin func(record) *Lab) string {
	t.Helper()
	before, after := &memoryFolder{}, &memoryFolder{}
	first := begin(before)
	saved := stopped(t, first, step)
	first.Close()
	second := begin(after)
	r := bytes.NewReader(saved)
	if err := second.x.Load(r); err != nil {
		t.Fatal(err)
	}
	if r.Len() > 0 {
		t.Errorf("%d bytes were not read", r.Len())
	}
	if s := second.Snapshot(); s.Step != step || s.Position != After(step) {
		t.Errorf("loaded at %s", s.Position)
	}
	if err := second.x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	second.Close()
	return before.canonical(t) + after.canonical(t)
}

func TestALoadedRunGoesOnBitForBit(t *testing.T) {
	schedule := []string{"3:tau=0.5", "20/fit:4:guidance=3", "22:relevance=td!", "33:ratio=0.25", "35:relevance=curiosity!", "41:samples=7", "50:tau=0.25"}
	for _, members := range []int{1, 2} {
		for _, step := range []int{0, 3, 19, 20, 22, 34, 41, 47, 60} {
			w := newWorld()
			c := w.config()
			c.Members, c.Schedule = members, schedule
			whole := &memoryFolder{}
			l := w.lab(t, c, whole)
			if err := l.x.run(context.Background()); err != nil {
				t.Fatal(err)
			}
			got := goneOn(t, step, func(r record) *Lab { return newWorld().lab(t, c, r) })
			if want := whole.canonical(t); got != want {
				t.Errorf("%d members, saved at %d: the journals are\n%s\nwant\n%s", members, step, got, want)
			}
		}
	}
}

func TestALoadedRunOfRealPartsGoesOnBitForBit(t *testing.T) {
	dev, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	c := realConfig()
	c.Schedule = []string{"14:relevance=td!", "20:relevance=curiosity!"}
	begin := func(r record) *Lab {
		p, err := newParts(&c, newWorld().task(), dev)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, newWorld().task(), r, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	whole := &memoryFolder{}
	l := begin(whole)
	if err := l.x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, step := range []int{5, 12, 18, 24} {
		if got, want := goneOn(t, step, begin), whole.canonical(t); got != want {
			t.Errorf("saved at %d: the journals are\n%s\nwant\n%s", step, got, want)
		}
	}
}

func TestWhatCannotBeSavedOrLoaded(t *testing.T) {
	w := newWorld()
	var l *Lab
	w.on("fit to 4", func() {
		if err := l.x.Save(&bytes.Buffer{}); err == nil || err.Error() != "save run: the run is at 20/fit:2, in the middle of an env step" {
			t.Errorf("in a fit: %v", err)
		}
	})
	l = w.lab(t, w.config(), nil)
	saved := stopped(t, l, 25)
	other := w.config()
	other.Members = 2
	for want, load := range map[string]func() error{
		"2": func() error { return w.lab(t, other, nil).x.Load(bytes.NewReader(saved)) },
		"not a saved run": func() error {
			return w.lab(t, w.config(), nil).x.Load(strings.NewReader(strings.Repeat("x", 100)))
		},
		"EOF": func() error { return w.lab(t, w.config(), nil).x.Load(bytes.NewReader(saved[:len(saved)/2])) },
	} {
		if err := load(); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
