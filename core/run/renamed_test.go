package run

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writers are all ways in which a process changes the folder of its run, in an order in which they
// can follow each other. Each of them changes the folder.
var writers = []struct {
	name string
	do   func(f *Folder) error
}{
	{"append", func(f *Folder) error { return f.Append(Line{Type: "note", Step: 1, Member: NoMember}) }},
	{"sync", func(f *Folder) error {
		f.mu.Lock()
		f.doubt = errors.New("a disk that failed") // so that it is opened again
		f.mu.Unlock()
		return errors.Join(f.Append(Line{Type: "note", Step: 2, Member: NoMember}), f.Sync())
	}},
	{"policy", func(f *Folder) error { return f.Write(PolicyName, []byte("weights")) }},
	{"log", func(f *Folder) error {
		l, err := f.NewLog("0-real")
		if err != nil {
			return err
		}
		return errors.Join(l.Append([]byte("rows")), l.Close())
	}},
	{"data", func(f *Folder) error {
		_, err := f.WriteData("0-syn", func(w io.Writer) error { _, err := w.Write([]byte("rows")); return err })
		return err
	}},
	{"checkpoints", func(f *Folder) error {
		for i := 1; i < 8; i++ {
			if _, _, err := f.WriteCheckpoint(sampleOf(f, i)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"keep", func(f *Folder) error { return f.Keep(CheckpointName(7, "7"), "test") }},
	{"prune", func(f *Folder) error { _, err := f.Prune(CheckpointName(7, "7"), 0); return err }},
	{"set aside", func(f *Folder) error { _, err := f.SetAside(CheckpointName(5, "5")); return err }},
	{"config", func(f *Folder) error { return f.Reconfigure([]byte("steps = 2\n")) }},
	{"rewind", func(f *Folder) error { _, err := f.Rewind(EmptyMark()); return err }},
	{"output", func(f *Folder) error {
		file, err := f.Log("train.log")
		if err != nil {
			return err
		}
		_, err = file.Write([]byte("said\n"))
		return errors.Join(err, file.Close())
	}},
	{"notice", func(f *Folder) error {
		h, err := f.Handle()
		if err != nil {
			return err
		}
		return errors.Join(h.Replace("attach.json", []byte("here")), h.Replace("other", nil), h.Remove("other"), h.Close())
	}},
}

func sampleOf(f *Folder, step int) *Checkpoint {
	c := sample(step, fmt.Sprint(step))
	c.Config, c.Journal = f.Config(), f.Mark()
	return c
}

// begun is a run with a checkpoint.
func begun(t *testing.T, k locker, dir string) *Folder {
	t.Helper()
	f, err := k.create(dir, []byte("seed = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.WriteCheckpoint(sampleOf(f, 1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(PolicyName, []byte("precious")); err != nil {
		t.Fatal(err)
	}
	return f
}

// What gets the name of a folder whose run goes on: another run, and a link to one.
var successors = map[string]func(t *testing.T, k locker, dir string) (victim string){
	"a run": func(t *testing.T, k locker, dir string) string {
		f := begun(t, k, dir)
		t.Cleanup(func() { f.Close() })
		return dir
	},
	"a link": func(t *testing.T, k locker, dir string) string {
		f := begun(t, k, dir+"-victim")
		t.Cleanup(func() { f.Close() })
		if err := os.Symlink(dir+"-victim", dir); err != nil {
			t.Fatal(err)
		}
		return dir + "-victim"
	},
}

// A run whose folder is renamed goes on in it, whatever it writes, and never touches what has the
// name now.
func TestARenamedFolderIsWrittenAndNoOther(t *testing.T) {
	for name, k := range locks {
		for what, succeed := range successors {
			t.Run(name+", "+what, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				f, err := k.create(dir, []byte("seed = 1\n"))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(dir, dir+"-old"); err != nil {
					t.Fatal(err)
				}
				victim := succeed(t, k, dir)
				before := contents(t, victim)
				unharmed := func(by string) {
					t.Helper()
					if after := contents(t, victim); !maps.Equal(before, after) {
						t.Fatalf("%s: what has the name now was changed", by)
					}
				}
				for _, w := range writers {
					was := contents(t, dir+"-old")
					if err := w.do(f); err != nil {
						t.Errorf("%s: %v", w.name, err)
					}
					if maps.Equal(was, contents(t, dir+"-old")) {
						t.Errorf("%s: changes nothing in the folder", w.name)
					}
					unharmed(w.name)
				}
				if f.Dir() != dir+"-old" {
					t.Errorf("it is said to be in %s", f.Dir())
				}
				f = handedOver(t, k, f)
				unharmed("hand over")
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				unharmed("close")
				if again, err := k.open(dir + "-old"); err != nil || len(again.Said()) > 0 {
					t.Errorf("resume: %v", err)
				} else if all, err := again.Checkpoints(); err != nil || len(all) == 0 || all[0].Step != 5 {
					t.Errorf("its checkpoints: %+v, %v", all, err)
				} else {
					again.Discard()
				}
				unharmed("discard")
			})
		}
	}
}

// handedOver closes a folder and takes it back.
func handedOver(t *testing.T, k locker, f *Folder) *Folder {
	t.Helper()
	h, err := f.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if f, err = h.Reopen(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	return f
}

// A run whose folder is removed gets that as the error of its next change, whichever that is, and writes
// nothing into what gets the name.
func TestARemovedFolderIsNoticed(t *testing.T) {
	for name, k := range locks {
		for _, w := range writers {
			if slices.Contains([]string{"output", "notice", "append"}, w.name) { // these need no whole run; a line alone may precede the next sync
				continue
			}
			dir := filepath.Join(t.TempDir(), "run")
			f := begun(t, k, dir)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			victim := begun(t, k, dir)
			before := contents(t, dir)
			err := w.do(f)
			if err == nil && w.name != "keep" && w.name != "prune" && w.name != "set aside" {
				t.Errorf("%s, %s: no error", name, w.name)
			}
			if err = f.Sync(); !errors.Is(err, ErrGone) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s, then sync: %v", name, w.name, err)
			}
			if err = f.Append(Line{Type: "note", Member: NoMember}); !errors.Is(err, ErrGone) {
				t.Errorf("%s, %s, then a line: %v", name, w.name, err)
			}
			if err := f.Close(); !errors.Is(err, ErrGone) {
				t.Errorf("%s, %s, then close: %v", name, w.name, err)
			}
			if !maps.Equal(before, contents(t, dir)) {
				t.Errorf("%s, %s: what has the name now was changed", name, w.name)
			}
			victim.Close()
		}
	}
}

// A journal that another program has put in the place of the run's is completed if it holds what
// the run wrote, and else is an error.
func TestAJournalThatIsReplaced(t *testing.T) {
	for text, right := range map[string]bool{"same": true, "edited": false} {
		dir := t.TempDir()
		f := begun(t, thisProcess(), dir)
		path := filepath.Join(dir, JournalName)
		line := Line{Type: "note", Step: 1, Member: NoMember}
		if err := errors.Join(f.Append(line), f.Sync()); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(path)
		if !right {
			now = []byte(text + "\n")
		}
		if err = errors.Join(err, os.WriteFile(path+"~", now, 0o666), os.Rename(path+"~", path)); err != nil {
			t.Fatal(err)
		}
		err = errors.Join(f.Append(line), f.Sync())
		got, _ := os.ReadFile(path)
		if right && (err != nil || strings.Count(string(got), "\n") != 2) || !right && (err == nil || string(got) != "edited\n") {
			t.Errorf("%s: %v, %q", text, err, got)
		}
		f.Close()
	}
}
