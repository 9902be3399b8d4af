package lab

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/checkpoint"
	"pgrlab/core/event"
	"pgrlab/core/run"
)

// A resumed run begins with the events that were written.
func TestHistoryIsWhatWasWritten(t *testing.T) {
	w := newWorld()
	c := w.config()
	c.Schedule = busySchedule
	folder := &memoryFolder{}
	l := w.lab(t, c, folder)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	events := l.Events(0)
	again := &memoryFolder{}
	r := run.NewReader(bytes.NewReader(folder.journal.Bytes()))
	for _, want := range events {
		if want.Type == event.TypeRefused || want.Type == event.TypePreviewed {
			continue
		}
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := event.Decode(e)
		if !ok || got.Type != want.Type || got.Step != want.Step || got.Member != want.Member {
			t.Fatalf("%s is %+v, %v", e.Text, got, ok)
		}
		again.Append(run.Line{Type: got.Type, Step: got.Step, Member: got.Member, Body: got.Body, WallS: e.WallS})
	}
	if again.canonical(t) != folder.canonical(t) {
		t.Errorf("read back it is\n%s\nwant\n%s", again.canonical(t), folder.canonical(t))
	}
}

// Two forks are made from one checkpoint, one of them with a knob turned. The other one goes on as
// its parent did, and a schedule read from a journal repeats its changes.
func TestFork(t *testing.T) {
	c := newWorld().config()
	c.Schedule = busySchedule
	top := t.TempDir()
	parent := filepath.Join(top, "parent")
	diskRun(t, c, parent, 0)
	found, err := run.Checkpoints(parent)
	if err != nil {
		t.Fatal(err)
	}
	from := found[len(found)-1]
	journal := map[string]string{}
	for name, set := range map[string][]string{"same": nil, "other": {"guidance=9!"}} {
		dir := filepath.Join(top, name)
		if said, err := checkpoint.Fork(c, []byte("seed = 8\n"), from, set, dir); err != nil || said != "" {
			t.Fatal(err)
		}
		l, _, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		journal[name] = strings.Replace(journalOf(t, dir), `{"type":"note","step":`+strconv.Itoa(from.Step)+`,"text":"forked at `+from.Position+"\"}\n", "", 1)
	}
	if want := journalOf(t, parent); journal["same"] != want {
		t.Errorf("the fork writes\n%s\nwant\n%s", journal["same"], want)
	}
	if !strings.Contains(journal["other"], `"knob":"guidance","from":`) || !strings.Contains(journal["other"], `"to":9,`) || strings.Contains(journal["same"], `"to":9,`) {
		t.Errorf("the fork writes\n%s", journal["other"])
	}
	if _, err := checkpoint.Fork(c, nil, from, []string{"guidanze=7"}, filepath.Join(top, "wrong")); err == nil || !strings.Contains(err.Error(), `did you mean "guidance"`) {
		t.Errorf("%v", err)
	}
	again, err := event.ReadSchedule(filepath.Join(top, "other"))
	if err != nil || len(again) == 0 {
		t.Errorf("%v, %v", again, err)
	}
	if kept, _ := run.Checkpoints(parent); !kept[len(kept)-1].Kept {
		t.Error("the forked checkpoint is not kept")
	}
}

// A fork makes its changes in the order in which they are given, or in one in which they fit. Those
// that do not fit are refused before there is a fork.
func TestAForkMakesAllOfItsChanges(t *testing.T) {
	c := newWorld().config()
	c.Knobs.Ratio = 1
	top := t.TempDir()
	parent := filepath.Join(top, "parent")
	diskRun(t, c, parent, 0)
	found, err := run.Checkpoints(parent)
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{
		"relevance=eco":                "relevance \"eco\" is of episodes as they are met",
		"guidance=2":                   "guidance is 2 already",
		"ratio=1!":                     "ratio is 1 already", // nothing is made again for it
		"guidance=5 ratio=0.5 ratio=1": "",
	} {
		_, err := checkpoint.Fork(c, []byte("seed = 8\n"), found[0], strings.Fields(set), filepath.Join(top, set))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
	for set, want := range map[string]string{
		"ratio=0.5 hold=real": "hold real, ratio 0.5, guidance 2", "hold=real ratio=0.75 ratio=0.5": "hold real, ratio 0.5, guidance 2",
		"guidance=5 guidance=4": "hold batch, ratio 1, guidance 4", "guidance=5 hold=real": "",
	} {
		dir := filepath.Join(top, set)
		_, err := checkpoint.Fork(c, []byte("seed = 8\n"), found[0], strings.Fields(set), dir)
		if want == "" {
			if err == nil || !strings.HasSuffix(err.Error(), ": ratio 1 with hold=real: the batch would need more than 16,384 rows") {
				t.Errorf("%s: %v", set, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(set, err)
		}
		l, _, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		k := l.Snapshot().Knobs
		if got := fmt.Sprintf("hold %s, ratio %s, guidance %s", k["hold"], k["ratio"], k["guidance"]); got != want {
			t.Errorf("%s: %s, want %s", set, got, want)
		}
	}
}

// A fork of a run that ended off the cadence of evaluations makes its changes where it says that it was
// forked: the evaluation at that end is left out.
func TestAForkOfAnEndedRunIsChangedWhereItIsForked(t *testing.T) {
	c, top := newWorld().config(), t.TempDir()
	c.Steps = 37
	fresh(t, c, filepath.Join(top, "parent"))
	found, err := run.Checkpoints(filepath.Join(top, "parent"))
	if err != nil || found[0].Position != "37/evaluate:0" {
		t.Fatal(found, err)
	}
	for steps, want := range map[int]string{75: "37", 37: "37/evaluate:0"} {
		c.Steps = steps
		dir := filepath.Join(top, fmt.Sprint(steps))
		if _, err := checkpoint.Fork(c, docOf(c), found[0], []string{"guidance=4"}, dir); err != nil {
			t.Fatal(err)
		}
		l, said, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(said, err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		made := changesIn(l)
		if notes, _ := bodies[event.Noted](l); len(made) != 1 || made[0].Position.String() != want || len(notes) == 0 || notes[0].Text != event.ForkedAt+want {
			t.Errorf("%d steps: notes %+v, changes %+v", steps, notes, made)
		}
	}
}
