package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run/files"
)

// A resume removes what a killed process had not finished, and no file of people or of a command that is
// writing one into the folder.
func TestAResumeLeavesTheFilesOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := Create(dir, []byte("x = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.below(DataName), f.Close()); err != nil {
		t.Fatal(err)
	}
	others := []string{".curves.svg.new", "config.new.toml", "notes.new", "notes.new-0123abcd.txt", "plan.new-york"}
	for _, name := range slices.Concat(others, []string{"policy.bin.new-0123abcd", "data/syn.new"}) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if f, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	left := slices.DeleteFunc(slices.Concat(f.names("."), f.names(DataName)), func(name string) bool { return !strings.Contains(name, unfinished) })
	if !slices.Equal(left, others) {
		t.Errorf("%q are left, want %q", left, others)
	}
}

// A reader does not take a journal that a resume cuts for one that was edited.
func TestAJournalThatIsCutMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f := begun(t, thisProcess(), dir)
	long := line(1)
	long.Body = map[string]string{"text": strings.Repeat("x", 1<<20)} // takes time to check
	if err := f.Append(long); err != nil {
		t.Fatal(err)
	}
	at := f.Mark()
	if _, _, err := f.WriteCheckpoint(sampleOf(f, 1)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Append(line(2)), f.Close()); err != nil {
		t.Fatal(err)
	}
	read, over := make(chan error), make(chan struct{})
	go func() {
		var first error
		for open := true; open; {
			if _, err := Changed(dir); first == nil {
				first = err
			}
			select {
			case <-over:
				open = false
			default:
			}
		}
		read <- first
	}()
	for i := range 20 {
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Rewind(at)
		if err := errors.Join(err, f.Append(line(3+i)), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	if err := <-read; err != nil {
		t.Error(err)
	}
	if err := os.Truncate(filepath.Join(dir, JournalName), at.Size); err != nil {
		t.Fatal(err)
	}
	if _, err := Changed(dir); err == nil {
		t.Error("its last lines were cut off by hand")
	}
}

// Where the removal of a run that did not begin is interrupted, a run can begin.
func TestADiscardThatIsKilled(t *testing.T) {
	for n := 0; ; n++ {
		dir := filepath.Join(t.TempDir(), "run")
		f, err := Create(dir, []byte("x = 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		left := n
		stop := files.Watch(func(files.Op) error {
			if left--; left < 0 {
				return errors.New("killed")
			}
			return nil
		})
		f.Discard()
		stop()
		if n > 0 { // before, the run has begun
			if err := RemoveUnbegun(dir); err != nil {
				t.Error(n, err)
			}
			if f, err = Create(dir, []byte("x = 2\n")); err != nil {
				t.Errorf("after %d changes: %v", n, err)
				return
			}
			f.Close()
		}
		if left >= 0 {
			return // it was not interrupted
		}
	}
}
