package lab

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/testing/cut"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// pixelsOnDisk is a run from frames whose journal does not depend on where it was cut. Its memory
// forgets frames, and checkpoints are taken at every third env step.
func pixelsOnDisk() config.Config {
	c := tiny.Pixels()
	c.Environment.Copies, c.Buffer = 2, 30
	c.Evaluation.KeepEvery = 3
	return c
}

// watchedTask is tiny's task with training environments that call stepped before each step.
func watchedTask(stepped func()) task.Task {
	t := tiny.Task()
	make := t.New
	t.New = func(seed uint64) (task.Env, error) {
		env, err := make(seed)
		return watchedEnv{env, env.(task.Seen), stepped}, err
	}
	return t
}

type watchedEnv struct {
	task.Env
	task.Seen
	stepped func()
}

func (e watchedEnv) Step(action, obs []float32) (float64, bool, bool, error) {
	e.stepped()
	return e.Env.Step(action, obs)
}

// playPixels plays a run from frames in a new folder; stepped is called before every step of a
// copy.
func playPixels(t *testing.T, c config.Config, dir string, stepped func(*Lab)) {
	playPixelsIn(t, c, dir, run.PieceBytes, stepped)
}

// playPixelsIn is playPixels with files of logs that are about piece bytes long.
func playPixelsIn(t *testing.T, c config.Config, dir string, piece int64, stepped func(*Lab)) {
	t.Helper()
	folder := created(t, dir)
	var l *Lab
	dev := tiny.Device(t)
	c = inEnvSteps(c)
	p, err := newParts(&c, watchedTask(nil), dev)
	if err != nil {
		t.Fatal(err)
	}
	l, err = newLab(c, watchedTask(func() { stepped(l) }), folder, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	l.x.checkpoints.writer.Divide(piece)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func restoredPixels(t *testing.T, c config.Config, dir string) (*Lab, []string, error) {
	t.Helper()
	folder, err := run.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	dev := tiny.Device(t)
	c = inEnvSteps(c)
	p, err := newParts(&c, tiny.Task(), dev)
	if err != nil {
		t.Fatal(err)
	}
	l, said, err := restore(c, tiny.Task(), folder, p, dev.Name(), clock(), Resumption{Saving: Saving{Every: time.Hour}})
	if err != nil {
		folder.Close()
	}
	return l, said, err
}

// framesOnDisk lists the files of the log of frames.
func framesOnDisk(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, run.DataName, "frames-*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	return names
}

// A resumed run does not write frames again that are all still held. It can be stopped and resumed
// repeatedly.
func TestARunFromFramesGoesOnMoreThanOnce(t *testing.T) {
	c, top := pixelsOnDisk(), t.TempDir()
	c.Buffer = 200
	whole, dir := filepath.Join(top, "whole"), filepath.Join(top, "run")
	playPixels(t, c, whole, func(*Lab) {})
	steps := 0
	playPixels(t, c, dir, func(l *Lab) {
		if steps++; steps == 25 {
			l.Send(event.Stop{})
		}
	})
	for again := range 3 {
		l, said, err := restoredPixels(t, c, dir)
		if err != nil || strings.Contains(strings.Join(said, "\n"), "cannot be used") {
			t.Fatal(err, said)
		}
		if again < 2 {
			l.Close()
			continue
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := journalOf(t, dir), journalOf(t, whole); got != want {
		t.Errorf("it writes\n%s\nwant\n%s", got, want)
	}
	if n := len(framesOnDisk(t, dir)); n > 2 {
		t.Errorf("the frames are in %d files", n)
	}
}

// If a run from frames is killed or loses power at any time, the files that are left continue to
// the same journal, from the last checkpoint that was reported.
func TestARunFromFramesOutlivesItsPower(t *testing.T) {
	racing.Skip(t)
	outlivesItsPower(t, pixelsOnDisk(), run.PieceBytes, func(*Lab) {})
}

// So do they where the files of logs are short and those whose frames are forgotten are removed.
func TestARunWhoseLogsEndOutlivesItsPower(t *testing.T) {
	c, calls := pixelsOnDisk(), 0
	c.Evaluation.KeepEvery = 0
	outlivesItsPower(t, c, shortPiece, func(l *Lab) {
		if calls++; calls%5 == 0 {
			l.x.checkpoints.settle()
			l.Send(event.Checkpoint{By: "test"})
		}
	})
}

const shortPiece = 500

// So do they where every frame is written as soon as the writer takes it, and not with a checkpoint, also
// after frames were forgotten.
func TestARunThatWritesFramesAheadOutlivesItsPower(t *testing.T) {
	racing.Skip(t)
	ahead, forgotten := false, false
	outlivesItsPower(t, pixelsOnDisk(), run.PieceBytes, func(l *Lab) {
		k, frames := &l.x.checkpoints, l.x.first().Appended()[1].Rows
		k.part = 1
		ahead = ahead || k.path == "" && k.totals[1] > 0
		forgotten = forgotten || frames.First() > 0 && k.totals[1] == frames.Total() && k.busy == nil && k.at.Step < l.x.Step
	})
	if !ahead || !forgotten {
		t.Errorf("frames were written ahead of a checkpoint: %v, after some were forgotten: %v", ahead, forgotten)
	}
}

func outlivesItsPower(t *testing.T, c config.Config, piece int64, stepped func(*Lab)) {
	root := t.TempDir()
	whole := filepath.Join(t.TempDir(), "whole")
	playPixelsIn(t, c, whole, piece, stepped)
	want := journalOf(t, whole)
	if names := framesOnDisk(t, whole); len(names) == 1 != (piece == run.PieceBytes) || strings.HasSuffix(names[0], "-0-0.rows.zst") != (piece == run.PieceBytes) {
		t.Errorf("the frames are in %q", names)
	}
	tape, stop, err := cut.Record(root)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	playPixelsIn(t, c, filepath.Join(root, "run"), piece, func(l *Lab) {
		stepped(l)
		l.x.checkpoints.settle()
		if k := &l.x.checkpoints; k.path != "" && k.failed == "" {
			tape.Promise(k.saved.String())
		}
	})
	stop()
	refused, gone := 0, 0
	cuts(t, tape, 31, func(root, where string, promised []string) {
		dir := filepath.Join(root, "run")
		l, said, err := restoredPixels(t, c, dir)
		if err == nil {
			l.x.checkpoints.writer.Divide(piece)
		}
		if ranOn(t, l, said, err, dir, want, where, promised) {
			refused++
		}
		gone++
	})
	if refused == gone {
		t.Error("nothing goes on")
	}
}

// A fork has the files that its checkpoint needs, whichever of them its parent removes when it goes on.
func TestAForkOutlivesTheFilesOfItsParent(t *testing.T) {
	c, top := pixelsOnDisk(), t.TempDir()
	c.Evaluation.KeepEvery = 0
	parent, steps := filepath.Join(top, "parent"), 0
	playPixelsIn(t, c, parent, shortPiece, func(l *Lab) {
		switch steps++; {
		case steps == 25:
			l.Send(event.Stop{})
		case steps%5 == 0:
			l.x.checkpoints.settle()
			l.Send(event.Checkpoint{By: "test"})
		}
	})
	found, err := run.Checkpoints(parent)
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	goOn := func(name string) string {
		l, said, err := restoredPixels(t, c, filepath.Join(top, name))
		if err != nil {
			t.Fatal(said, err)
		}
		l.x.checkpoints.writer.Divide(shortPiece)
		l.x.checkpoints.writer.Keep(1) // only the last checkpoint stays
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return journalOf(t, filepath.Join(top, name))
	}
	from := found[1]
	for _, name := range []string{"twin", "fork"} {
		if said, err := checkpoint.Fork(inEnvSteps(c), []byte("seed = 8\n"), from, nil, filepath.Join(top, name)); err != nil || said != "" {
			t.Fatal(said, err)
		}
	}
	if err := os.Remove(from.Path + ".keep"); err != nil { // as if the parent could not be made to keep it
		t.Fatal(err)
	}
	want, gone := goOn("twin"), 0
	goOn("parent")
	for _, d := range from.Data {
		for _, p := range d.Pieces {
			if _, err := os.Stat(filepath.Join(parent, run.DataName, p.File)); err != nil {
				gone++
			}
		}
	}
	if got := goOn("fork"); got != want || gone == 0 {
		t.Errorf("of a parent without %d of the files the fork writes\n%s\nwant\n%s", gone, got, want)
	}
}

// Checkpoints share the log of frames, and a damaged log is refused in one line. The run goes on
// from an older checkpoint whose part of the log is whole, or not at all.
func TestADamagedLogOfFrames(t *testing.T) {
	racing.Skip(t)
	c := pixelsOnDisk()
	for name, damage := range map[string]func(text []byte) []byte{
		"cut":     func(text []byte) []byte { return text[:len(text)-7] },
		"changed": func(text []byte) []byte { text[len(text)-20] ^= 1; return text },
		"empty":   func([]byte) []byte { return nil },
	} {
		dir := filepath.Join(t.TempDir(), "run")
		playPixels(t, c, dir, func(*Lab) {})
		file := framesOnDisk(t, dir)[0]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, damage(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, said, err := restoredPixels(t, c, dir)
		words := strings.Join(said, "; ")
		if name == "empty" {
			if err == nil {
				l.Close()
			}
			words = errText(err)
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		} else {
			if at := l.Snapshot().Step; at == 0 || at == c.Steps {
				t.Errorf("%s: it goes on at step %d", name, at)
			}
			if err := l.Run(context.Background()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !strings.Contains(words, filepath.Base(file)) || strings.Contains(words, "\n") {
			t.Errorf("%s: %q names no file", name, words)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A checkpoint holds none of the frames, and the forecast includes the log.
func TestCheckpointsDoNotHoldFrames(t *testing.T) {
	c, dir := pixelsOnDisk(), filepath.Join(t.TempDir(), "run")
	playPixels(t, c, dir, func(*Lab) {})
	found, err := run.Checkpoints(dir)
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	seen := int64(0)
	for _, f := range found {
		for _, s := range f.Sections {
			if s.Name == "0/"+replica.SectionFrames && s.Bytes > 500 {
				t.Errorf("%s holds %d bytes of frames", f.Path, s.Bytes)
			}
		}
		for _, d := range f.Data {
			if d.Name == "0/"+replica.SectionFrames {
				seen = max(seen, d.Pieces[0].Bytes)
			}
		}
	}
	l := framesLab(t, c, 1, &memoryFolder{})
	defer l.Close()
	need, err := l.DiskNeed()
	if err != nil {
		t.Fatal(err)
	}
	row := int64(l.x.first().Real.RowBytes())
	if frames := need.Real - int64(2*c.Steps)*row; frames < seen*9/10/config.FramesPacked || frames > 2*seen/config.FramesPacked {
		t.Errorf("%d bytes of frames are said, %d were logged", frames, seen)
	}
}
