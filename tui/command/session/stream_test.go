package session

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/report"
	"pgrlab/core/run"
)

// measured are the events of a run with that seed up to a step: at each hundredth two lines.
func measured(seed, steps int) (all []event.Event) {
	for step := 100; step <= steps; step += 100 {
		for i := range 2 {
			all = append(all, event.Event{Index: len(all), Step: step, Type: event.TypeEvaluated, Member: event.NoMember,
				Body: event.Evaluated{ReturnMean: run.Float(float64(1000*seed+step) + float64(i)/3)}})
		}
	}
	return all
}

// wrote reads the files of a folder.
func wrote(t *testing.T, dir string) (all report.Written, files []string) {
	t.Helper()
	files, err := eventFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err = report.ReadWritten(files)
	if err != nil {
		t.Fatal(err)
	}
	return all, files
}

// leg goes on with a run from n events to m of them, of which the files are to have those before kept:
// the process is killed before it has written the rest.
func leg(t *testing.T, dir string, run []event.Event, n, m, kept int) {
	t.Helper()
	s, err := newStream(dir, 1, run[:n], time.Unix(int64(n), 0))
	if err != nil {
		t.Fatal(err)
	}
	defer s.file.Close()
	if err := s.take(run[:max(n, min(m, kept))]); err != nil {
		t.Fatal(err)
	}
}

// However a run is killed, resumed, and resumed without event files, a reader that heeds restart marks
// finds each number of it once when a leg has reached the run's end; after legs that ended in order
// nothing is in two files.
func TestEventFilesHaveARunOnce(t *testing.T) {
	draws := rand.New(rand.NewPCG(1, 2))
	for try := range 60 {
		dir := filepath.Join(t.TempDir(), "x")
		whole := measured(1, 1000)
		at := 0 // the events up to the newest checkpoint
		var said []string
		for at < len(whole) {
			end := at + 1 + draws.IntN(len(whole)-at)
			saved := max(at, 1, end-draws.IntN(4)) // a checkpoint before the end, after the first number
			switch kept := end - draws.IntN(3); {
			case end == len(whole):
				leg(t, dir, whole, at, end, end)
				saved = end
			case draws.IntN(3) > 0:
				leg(t, dir, whole, at, end, kept)
				said = append(said, fmt.Sprintf("from %d to %d, written to %d, saved %d", at, end, kept, saved))
			default:
				said = append(said, fmt.Sprintf("from %d to %d, nothing is written, saved %d", at, end, saved))
			}
			at = saved
		}
		want, err := (&stream{members: 1}).numbers(whole)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := wrote(t, dir)
		for _, values := range want {
			for i := range values {
				values[i].Value = float64(float32(values[i].Value))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %q: steps %v, want %v", try, said, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

// Legs that end in order have no step in two files, and one in which none was written is made up for.
func TestEventFilesOfLegs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	whole := measured(1, 3000)
	leg(t, dir, whole, 0, 20, 20)
	leg(t, dir, whole, 40, 60, 60) // 20 to 40 without the flag
	all, files := wrote(t, dir)
	if len(all) != 30 || len(files) != 2 {
		t.Fatalf("%d steps in %q", len(all), files)
	}
	second, err := report.ReadWritten(files[1:])
	if first := slices.Min(slices.Collect(maps.Keys(second))); err != nil || first != 1100 {
		t.Errorf("the second file begins at step %d, %v", first, err)
	}
}

// A new run, and one whose folder has another's files, write beside them; each finds its own again.
func TestRunsOfOneNameHaveFoldersOfTheirOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x [1]")
	for seed := range 3 {
		leg(t, dir, measured(seed, 1000), 0, 20, 20)
	}
	for seed := range 3 {
		leg(t, dir, measured(seed, 2000), 20, 40, 40)
	}
	for seed, name := range []string{dir, dir + "-2", dir + "-3"} {
		all, files := wrote(t, name)
		own := slices.Contains(all[2000], report.Scalar{Name: report.Return, Value: float64(1000*seed + 2000)})
		if len(all) != 20 || !own || len(files) != 2 {
			t.Errorf("%s: %d steps in %q", name, len(all), files)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 3 {
		t.Errorf("%d folders, %v", len(entries), err)
	}
}

// Runs of one name that begin at the same moment write into folders of their own.
func TestRunsOfOneNameThatBeginAtOnce(t *testing.T) {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "x")
		var all sync.WaitGroup
		for seed := range 4 {
			all.Go(func() { leg(t, dir, measured(seed, 1000), 0, 20, 20) })
		}
		all.Wait()
		for _, name := range []string{dir, dir + "-2", dir + "-3", dir + "-4"} {
			if files, err := eventFiles(name); err != nil || len(files) != 1 {
				t.Errorf("%s has the files %q of one run, %v", name, files, err)
			}
		}
	}
}
