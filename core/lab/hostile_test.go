package lab

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// leaves returns the values inside v that a stranger can choose: numbers, flags, texts and the
// lengths of lists.
func leaves(v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return leaves(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				all = append(all, leaves(v.Field(i))...)
			}
		}
	case reflect.Slice:
		all = append(all, v)
		fallthrough
	case reflect.Array:
		for i := range min(v.Len(), 4) {
			all = append(all, leaves(v.Index(i))...)
		}
	default:
		if v.CanSet() {
			return []reflect.Value{v}
		}
	}
	return all
}

// choose sets a leaf to the value that n selects.
func choose(v reflect.Value, n int64) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(n&1 == 1)
	case reflect.String:
		v.SetString([]string{"", "none", "curiosity", "td", "rnd", "count", "env", "guidance", "\x1b[2J", "0/real"}[uint64(n)%10])
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(uint64(n)))
	case reflect.Slice:
		length := int(uint64(n) % 9)
		longer := reflect.MakeSlice(v.Type(), length, length)
		reflect.Copy(longer, v)
		v.Set(longer)
	default:
		if v.CanInt() {
			v.SetInt(n)
		} else if v.CanUint() {
			v.SetUint(uint64(n))
		}
	}
}

// maxLooks is more often than any run of the scripted world reads the clock.
const maxLooks = 200_000

// goOnFrom loads a saved run from any source and plays it to its end.
func goOnFrom(t *testing.T, c config.Config, m memory) {
	t.Helper()
	l := newWorld().lab(t, c, &memoryFolder{})
	defer l.Close()
	if err := checkpoint.Contained(func() error { return m.load(l.x) }); err != nil {
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "cannot be loaded") {
			t.Errorf("not foreseen: %v", err)
		}
		return
	}
	looks, now := 0, l.x.now
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.x.now = func() time.Time {
		if looks++; looks > maxLooks {
			panic("it does not come to an end")
		}
		return now()
	}
	l.OnFault(FaultFail)
	_ = l.x.run(ctx) // an error also ends the run
}

// A checkpoint's values of the loop are accepted only if a run can go on from them: if any of them
// is changed, the checkpoint is refused in one line or the run comes to an end.
func FuzzSavedLoop(f *testing.F) {
	w := newWorld()
	c := w.config()
	c.Schedule = busySchedule
	folder := &memoryFolder{}
	all := borders(f, w.lab(f, c, folder), folder, eachNth(5))
	slices.SortFunc(all, func(a, b memory) int {
		return bytes.Compare(a.parts[checkpoint.SectionLoop], b.parts[checkpoint.SectionLoop])
	})
	for i := range 160 {
		for _, n := range []int64{-1, 5, 1 << 40, math.MinInt64} {
			f.Add(uint8(i), uint16(i), n, uint16(0), int64(1))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, i uint16, a int64, j uint16, b int64) {
		m := all[int(which)%len(all)]
		var s checkpoint.Loop
		if err := gob.NewDecoder(bytes.NewReader(m.parts[checkpoint.SectionLoop])).Decode(&s); err != nil {
			t.Fatal(err)
		}
		found := leaves(reflect.ValueOf(&s).Elem())
		choose(found[int(i)%len(found)], a)
		if j != 0 {
			choose(found[int(j)%len(found)], b)
		}
		var text bytes.Buffer
		if err := gob.NewEncoder(&text).Encode(s); err != nil {
			return
		}
		changed := memory{names: m.names, parts: map[string][]byte{}}
		for name, part := range m.parts {
			changed.parts[name] = part
		}
		changed.parts[checkpoint.SectionLoop] = text.Bytes()
		goOnFrom(t, c, changed)
	})
}

// The same holds for the bytes of every section, including the real parts: weights, optimisers,
// transitions, priorities, and a generator in the middle of its work.
func FuzzSavedSections(f *testing.F) {
	c := realConfig()
	c.Replay.Priority = config.FunctionNone
	c.Schedule = []string{"12:relevance=count!", "14:relevance=rnd!"}
	dev := testDevice(f)
	folder := &memoryFolder{}
	build := func(t testing.TB) *Lab {
		p, err := newParts(&c, newWorld().task(), dev)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, newWorld().task(), folder, p, "cpu test", clock())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	all := borders(f, build(f), folder, eachNth(9))
	slices.SortFunc(all, func(a, b memory) int {
		return bytes.Compare(a.parts[checkpoint.SectionLoop], b.parts[checkpoint.SectionLoop])
	})
	for i := range 40 {
		f.Add(uint8(i), uint8(i), uint32(8*i), uint64(math.MaxUint64)>>i)
	}
	f.Fuzz(func(t *testing.T, which, section uint8, at uint32, value uint64) {
		m := all[int(which)%len(all)]
		name := m.names[int(section)%len(m.names)]
		part := slices.Clone(m.parts[name])
		if len(part) < 8 {
			return
		}
		for k, place := 0, int(at)%(len(part)-7); k < 8; k++ {
			part[place+k] ^= byte(value >> (8 * k))
		}
		changed := memory{names: m.names, parts: map[string][]byte{}}
		for n, p := range m.parts {
			changed.parts[n] = p
		}
		changed.parts[name] = part
		l := build(t)
		defer l.Close()
		err := checkpoint.Contained(func() error { return changed.load(l.x) })
		if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "cannot be loaded")) {
			t.Errorf("%s: not foreseen: %v", name, err)
		}
	})
}

// rewritten replaces the latest checkpoint by a changed one with valid checksums.
func rewritten(t *testing.T, dir string, change func(c *run.Checkpoint)) string {
	t.Helper()
	found, err := run.Checkpoints(dir)
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, f := range found[1:] {
		os.Remove(f.Path)
	}
	c, err := run.LoadCheckpoint(found[0].Path, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	change(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0].Path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return found[0].Path
}

// Checkpoints with valid checksums and invalid content are refused in one line.
func TestHostileCheckpoints(t *testing.T) {
	loop := func(change func(*checkpoint.Loop)) func(*run.Checkpoint) {
		return func(c *run.Checkpoint) {
			text, _ := c.Section(checkpoint.SectionLoop)
			var s checkpoint.Loop
			if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
				t.Fatal(err)
			}
			change(&s)
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(s); err != nil {
				t.Fatal(err)
			}
			for i := range c.Sections {
				if c.Sections[i].Name == checkpoint.SectionLoop {
					c.Sections[i].Content = b.Bytes()
				}
			}
		}
	}
	whole := filepath.Join(t.TempDir(), "whole")
	config := newWorld().config()
	config.Schedule = busySchedule
	diskRun(t, config, whole, 38, hands...)
	for name, c := range map[string]struct {
		change func(*run.Checkpoint)
		want   string
	}{
		"a journal before its beginning": {func(c *run.Checkpoint) { c.Journal.Size = -1 }, "-1 bytes of a journal"},
		"a journal without end":          {func(c *run.Checkpoint) { c.Journal.Size = math.MaxInt64 }, "the journal ends after"},
		"a step before the first":        {func(c *run.Checkpoint) { c.Step = -5 }, "step -5"},
		"no time":                        {func(c *run.Checkpoint) { c.WallS = run.Float(math.NaN()) }, "NaN seconds"},
		"data without pieces":            {func(c *run.Checkpoint) { c.Data[0].Pieces = nil }, "has no pieces"},
		"data of negative size":          {func(c *run.Checkpoint) { c.Data[0].Pieces[0].Bytes = -1 }, "has no size"},
		"data elsewhere":                 {func(c *run.Checkpoint) { c.Data[0].Pieces[0].File = "../events.jsonl" }, "is no file of data"},
		"a huge generation": {func(c *run.Checkpoint) {
			c.Data = append(c.Data, run.Data{Name: "0/synthetic", Pieces: []run.Piece{{File: "x.zst", Bytes: 1 << 50}}})
		}, "which this run cannot have made"},
		"a phase before the first":    {loop(func(s *checkpoint.Loop) { s.Position.Phase = -1 }), "phase: -1"},
		"a phase after the last":      {loop(func(s *checkpoint.Loop) { s.Position.Phase = knob.Phases }), fmt.Sprint("phase: ", int(knob.Phases))},
		"a phase of another learner":  {loop(func(s *checkpoint.Loop) { s.Position.Phase = knob.Encode }), "has no phase encode"},
		"unknown work":                {loop(func(s *checkpoint.Loop) { s.Todo = 5 }), "work: 5"},
		"a loop before its beginning": {loop(func(s *checkpoint.Loop) { s.Loop.Step, s.Position.Step = math.MinInt64, math.MinInt64 }), "step: -9223372036854775808"},
		"a batch for no memory":       {loop(func(s *checkpoint.Loop) { s.Loop.Settings.Batch = 1 << 40 }), "batch: 1.099511627776e+12 is out of range"},
		"a generation without end":    {loop(func(s *checkpoint.Loop) { s.Loop.Settings.Samples = 1 << 30 }), "samples: "},
		"a generation under way":      {loop(func(s *checkpoint.Loop) { s.Loop.Generating.Samples = 1 << 40 }), "samples is 1099511627776"},
		"rings of negative size":      {loop(func(s *checkpoint.Loop) { s.Members[0].Synthetic = -7 }), "transitions of D_syn: -7"},
		"rows fewer than none":        {loop(func(s *checkpoint.Loop) { s.Members[0].State.Generations = []int{-7} }), "transitions of a generation: -7"},
		"no members":                  {loop(func(s *checkpoint.Loop) { s.Members = nil }), "0 members are saved"},
		"a knob that is none":         {loop(func(s *checkpoint.Loop) { s.Schedule = []knob.Scheduled{{At: knob.After(50), Knob: "x", Value: "1"}} }), `unknown knob "x"`},
		"a change of no class":        {loop(func(s *checkpoint.Loop) { s.Loop.Changes = []event.KnobChanged{{Class: 77}} }), "class of a change: 77"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			rewritten(t, dir, c.change)
			l, said, err := restored(t, config, dir)
			if err == nil {
				l.Close()
				t.Fatalf("it goes on: %q", said)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "cannot be loaded") {
				t.Errorf("%v: want %q", err, c.want)
			}
		})
	}
}

// A file that unpacks to more than the run can have written is not unpacked.
func TestBombsAreNotUnpacked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	config := newWorld().config()
	diskRun(t, config, dir, 38)
	limit := int(config.Limit(newWorld().task()))
	zeros := make([]byte, limit+1)
	path := rewritten(t, dir, func(c *run.Checkpoint) { c.Sections = append(c.Sections, run.Section{Name: "0/agent", Content: zeros}) })
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Fatalf("the bomb has %d bytes: %v", info.Size(), err)
	}
	zeros = nil
	_, _, err := restored(t, config, dir)
	if err == nil || !strings.Contains(err.Error(), "claims "+fmt.Sprint(limit+1)+" bytes, which this run cannot have made") {
		t.Errorf("%v", err)
	}
}

// A panic during the loading of a checkpoint becomes an error of one line.
func TestAPanicOfLoadingIsContained(t *testing.T) {
	err := checkpoint.Contained(func() error { panic("first\nsecond") })
	if err == nil || err.Error() != "is damaged: it cannot be loaded: first" {
		t.Errorf("%v", err)
	}
	if err := checkpoint.Contained(func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}
