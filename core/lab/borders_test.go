package lab

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/testing/racing"
)

// memory is a saved run in memory.
type memory struct {
	at    knob.Position
	names []string
	parts map[string][]byte
	lines int // lines of the canonical journal at that time
	state event.Snapshot
}

// counters returns a snapshot without the values that depend on times.
func counters(s event.Snapshot) event.Snapshot {
	if s.Losses != nil { // NaN differs from NaN
		known := *s.Losses
		for _, v := range []*float64{&known.Critic, &known.Actor, &known.Alpha, &known.QMean, &known.Noise, &known.Model} {
			if math.IsNaN(*v) {
				*v = math.MaxFloat64
			}
		}
		s.Losses = &known
	}
	s.Time, s.StepsPerSec, s.UpdatesPerSec, s.Dir, s.State = time.Time{}, 0, 0, "", 0
	return s
}

// sizes has how many bytes each section had when it was saved last: what receives a section need not grow.
var sizes sync.Map

func saved(t testing.TB, x *experiment) memory {
	t.Helper()
	m := memory{parts: map[string][]byte{}}
	err := x.saveSections(func(name string, save func(io.Writer) error) error {
		var b bytes.Buffer
		if size, known := sizes.Load(name); known {
			b.Grow(size.(int))
		}
		err := save(&b)
		sizes.Store(name, b.Len())
		m.names, m.parts[name] = append(m.names, name), b.Bytes()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// load loads m and checks that each part reads what it has saved, and no byte beyond.
func (m memory) load(x *experiment) error {
	const beyond = "what follows"
	into := x.into()
	err := into.LoadSections(m.names, func(name string, load func(io.Reader) error) error {
		content := m.parts[name]
		if name == checkpoint.SectionLoop { // it is always read to its end
			return load(bytes.NewReader(content))
		}
		r := bytes.NewReader(slices.Concat(content, []byte(beyond)))
		if err := load(r); err != nil {
			return err
		}
		switch left := r.Len() - len(beyond); {
		case left > 0:
			return fmt.Errorf("%d bytes were not read", left)
		case left < 0:
			return fmt.Errorf("%d bytes beyond it were read", -left)
		}
		return nil
	})
	if err == nil {
		x.loaded()
	}
	return err
}

// expected is what a section has to be. It keeps the place of the first byte that is written otherwise.
type expected struct {
	want    []byte
	written int
	at      int // -1: there is none
}

func (e *expected) Write(p []byte) (int, error) {
	want := e.want[min(e.written, len(e.want)):]
	if e.at < 0 && !bytes.HasPrefix(want, p) {
		for e.at = e.written; e.at-e.written < len(want) && want[e.at-e.written] == p[e.at-e.written]; {
			e.at++
		}
	}
	e.written += len(p)
	return len(p), nil
}

// differs names the first section that x saves otherwise than m has it, byte for byte; "": there is none.
// Times that were measured may differ.
func (m memory) differs(t testing.TB, x *experiment) (what string) {
	t.Helper()
	var names []string
	err := x.saveSections(func(name string, save func(io.Writer) error) error {
		names = append(names, name)
		if name == checkpoint.SectionLoop {
			var loop bytes.Buffer
			err := save(&loop)
			if what == "" && err == nil {
				what = loopDiffers(t, loop.Bytes(), m.parts[name])
			}
			return err
		}
		e := expected{want: m.parts[name], at: -1}
		err := save(&e)
		if e.at < 0 && e.written < len(e.want) {
			e.at = e.written
		}
		if what == "" && e.at >= 0 {
			what = fmt.Sprintf("section %s differs from byte %d on (%d bytes, want %d)", name, e.at, e.written, len(e.want))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names, m.names) {
		return fmt.Sprintf("its sections are %q, want %q", names, m.names)
	}
	return what
}

// loopDiffers compares two sections of the loop, without the times that were measured.
func loopDiffers(t testing.TB, got, want []byte) string {
	t.Helper()
	var loops [2]*checkpoint.Loop
	var bare [2]bytes.Buffer // NaN differs from NaN, but not in bytes
	for i, section := range [][]byte{got, want} {
		l, err := checkpoint.ReadLoop(bytes.NewReader(section))
		if err != nil {
			t.Fatal(err)
		}
		l.Meter, loops[i] = cost.State{}, l
		if err := gob.NewEncoder(&bare[i]).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Equal(bare[0].Bytes(), bare[1].Bytes()) {
		return ""
	}
	return "section loop: " + unlike("", reflect.ValueOf(loops[0]), reflect.ValueOf(loops[1]))
}

// unlike names the first part of a value that another value of its type does not have.
func unlike(path string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			return unlike(path, a.Elem(), b.Elem())
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if what := unlike(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); what != "" {
				return what
			}
		}
		return ""
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if what := unlike(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); what != "" {
				return what
			}
		}
		if a.Len() == b.Len() {
			return ""
		}
	}
	if one, other := fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b); one != other {
		return fmt.Sprintf("%s is %s, want %s", path, one, other)
	}
	return ""
}

// eachNth chooses every nth border.
func eachNth(n int) func(int, knob.Position) bool {
	return func(i int, _ knob.Position) bool { return i%n == 0 }
}

// borders plays l to its end and saves it at chosen places, in their order: between two slices inside
// an env step, and between some env steps. chosen receives how many places were seen before.
func borders(t testing.TB, l *Lab, folder *memoryFolder, chosen func(i int, p knob.Position) bool) (all []memory) {
	t.Helper()
	x, now := l.x, l.x.now
	last, seen := knob.Position{}, 0
	x.now = func() time.Time {
		if p := x.position; !x.inSlice && (p.Phase != knob.AfterStep || p.Step%7 == 0) {
			if p != last {
				if last = p; chosen(seen, p) {
					m := saved(t, x)
					m.at, m.lines, m.state = p, strings.Count(folder.canonical(t), "\n"), counters(*x.snapshot(time.Time{}))
					all = append(all, m)
				}
				seen++
			}
		}
		return now()
	}
	if err := x.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Close()
	return all
}

// resumeEverywhere resumes a run from each nth border and compares it with the uninterrupted one;
// the race detector sees a seventh of them. It returns how many borders there were in each phase.
func resumeEverywhere(t *testing.T, nth int, begin func(record) *Lab) (phases map[knob.Phase]int) {
	t.Helper()
	return resumeFrom(t, eachNth(nth), begin)
}

// resumeFrom is resumeEverywhere for the chosen borders. From each of them the run goes on to the next
// one, where it has to write and to save what the uninterrupted run wrote and saved there. So it can be
// interrupted at all of them, by induction. From the first border it goes on to the end.
func resumeFrom(t *testing.T, chosen func(i int, p knob.Position) bool, begin func(record) *Lab) (phases map[knob.Phase]int) {
	t.Helper()
	whole := &memoryFolder{}
	all := borders(t, begin(whole), whole, chosen)
	phases = map[knob.Phase]int{}
	lines := strings.SplitAfter(whole.canonical(t), "\n")
	for i, m := range all {
		if phases[m.at.Phase]++; racing.On && i%7 != 0 {
			continue
		}
		r := resumed{from: m, whole: lines, next: all[i+1:]}
		if i > 0 && len(r.next) > 0 {
			r.next, r.stops = r.next[:1], true
		}
		r.check(t, begin)
	}
	t.Logf("%d borders: %v", len(all), phases)
	return phases
}

// resumed is a run that goes on from a border.
type resumed struct {
	from  memory
	whole []string // the lines of the uninterrupted run
	next  []memory // what that run saved later
	stops bool     // at the last of next
}

// check plays the run and compares it with the uninterrupted one.
func (r resumed) check(t *testing.T, begin func(record) *Lab) {
	t.Helper()
	rest := &memoryFolder{}
	l := begin(rest)
	defer l.Close()
	if err := r.from.load(l.x); err != nil {
		t.Fatalf("at %s: %v", r.from.at, err)
	}
	if s := counters(*l.x.snapshot(time.Time{})); !reflect.DeepEqual(s, r.from.state) {
		t.Errorf("saved at %s it shows\n%+v\nwant\n%+v", r.from.at, s, r.from.state)
	}
	x, now, written, end := l.x, l.x.now, "", len(r.whole)
	x.now = func() time.Time {
		if len(r.next) > 0 && !x.inSlice && x.position == r.next[0].at {
			m := r.next[0]
			if what := m.differs(t, x); what != "" {
				t.Fatalf("saved at %s, at %s %s", r.from.at, m.at, what)
			}
			if r.next = r.next[1:]; len(r.next) == 0 && r.stops {
				written, end, x.gate.stopping = rest.canonical(t), m.lines, true
			}
		}
		return now()
	}
	switch err := x.run(context.Background()); {
	case r.stops && !errors.Is(err, errStop) || !r.stops && err != nil:
		t.Fatalf("from %s: %v", r.from.at, err)
	case len(r.next) > 0:
		t.Fatalf("from %s it goes on without passing %s", r.from.at, r.next[0].at)
	case !r.stops:
		written = rest.canonical(t)
	}
	if want := strings.Join(r.whole[r.from.lines:end], ""); written != want {
		t.Fatalf("from %s the run writes\n%s\nwant\n%s", r.from.at, written, want)
	}
}

// inOrder compares positions in a run.
func inOrder(a, b knob.Position) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}
