package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
)

// filesOf lists the files below dir.
func filesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// mixups returns what can happen to the files of a folder, by description.
func mixups(names []string) map[string]func(dir string) error {
	all := map[string]func(dir string) error{}
	replace := func(to string, content []byte) error { return os.WriteFile(to, content, 0o666) }
	for i, a := range names {
		all["without "+a] = func(dir string) error { return os.Remove(filepath.Join(dir, a)) }
		for what, keep := range map[string]func(int) int{
			"empty ": func(int) int { return 0 }, "half of ": func(n int) int { return n / 2 }, "all but a byte of ": func(n int) int { return max(0, n-1) },
		} {
			all[what+a] = func(dir string) error {
				text, err := os.ReadFile(filepath.Join(dir, a))
				return errors.Join(err, replace(filepath.Join(dir, a), text[:keep(len(text))]))
			}
		}
		all["twice "+a] = func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, a))
			return errors.Join(err, replace(filepath.Join(dir, a), slices.Concat(text, text)))
		}
		for j, b := range names {
			if i != j {
				all[a+" over "+b] = func(dir string) error {
					text, err := os.ReadFile(filepath.Join(dir, a))
					return errors.Join(err, replace(filepath.Join(dir, b), text))
				}
			}
			if i < j {
				all[a+" for "+b] = func(dir string) error {
					x, errX := os.ReadFile(filepath.Join(dir, a))
					y, errY := os.ReadFile(filepath.Join(dir, b))
					return errors.Join(errX, errY, replace(filepath.Join(dir, a), y), replace(filepath.Join(dir, b), x))
				}
			}
		}
		for what, put := range map[string]func(path string) error{
			"a link to ":           func(path string) error { return os.Symlink(path+"-moved", path) },
			"a dangling link for ": func(path string) error { return os.Symlink("nowhere", path) },
			"a pipe for ":          func(path string) error { return syscall.Mkfifo(path, 0o666) },
			"a folder for ":        func(path string) error { return os.Mkdir(path, 0o777) },
		} {
			all[what+a] = func(dir string) error {
				path := filepath.Join(dir, a)
				return errors.Join(os.Rename(path, path+"-moved"), put(path))
			}
		}
	}
	return all
}

// Files of a run folder are lost, truncated, duplicated, swapped, or replaced by something else.
// Resuming the run, and forking from it, works or is refused in one line.
func TestFilesAreMixedUp(t *testing.T) {
	racing.Skip(t)
	c := scheduled()
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	diskRun(t, c, whole, 0)
	diskRun(t, c, broken, 38)
	want := journalOf(t, whole)
	l, _, err := restored(t, c, broken) // restoring leaves a tail
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	found, err := run.Checkpoints(broken)
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	if err := errors.Join(run.Keep(found[1].Path, "a test"), os.WriteFile(filepath.Join(broken, run.PolicyName), []byte("weights"), 0o666)); err != nil {
		t.Fatal(err)
	}
	before, err := headerOf(found[1].Path)
	if err != nil {
		t.Fatal(err)
	}
	twin := filepath.Join(t.TempDir(), "twin")
	if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), found[1], []string{"guidance=5"}, twin); err != nil {
		t.Fatal(err)
	}
	forked := finished(t, c, twin)
	names := filesOf(t, broken)
	all := mixups(names)
	right, refused, every := 0, 0, 11
	if os.Getenv("PGRLAB_SOAK") != "" {
		every = 1
	}
	for n, what := range slices.Sorted(maps.Keys(all)) {
		if n%every > 0 && what != "twice "+run.JournalName {
			continue
		}
		do := all[what]
		top := t.TempDir()
		dir, child := filepath.Join(top, "run"), filepath.Join(top, "child")
		if err := errors.Join(os.CopyFS(dir, os.DirFS(broken)), do(dir)); err != nil {
			t.Fatal(what, err)
		}
		oneLine := func(err error) {
			if refused++; strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", what, err)
			}
		}
		from := run.Found{Header: before, Path: filepath.Join(dir, run.CheckpointsName, filepath.Base(found[1].Path))}
		if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), from, []string{"guidance=5"}, child); err != nil {
			oneLine(err)
		} else if h, err := headerOf(from.Path); err != nil {
			t.Errorf("%s: a fork of a checkpoint that cannot be read: %v", what, err)
		} else if got := finished(t, c, child); h.Position == before.Position && got != forked {
			t.Errorf("%s: the fork's journal is\n%s\nwant\n%s", what, got, forked)
		}
		if left := unfinished(t, top); len(left) > 0 {
			t.Errorf("%s: %q are left", what, left)
		}
		l, said, err := restored(t, c, dir)
		if err != nil {
			oneLine(err)
			continue
		}
		right++
		if strings.Contains(strings.Join(said, ""), "\n") {
			t.Errorf("%s: said %q", what, said)
		}
		if err := l.Run(context.Background()); err != nil {
			if oneLine(err); !standsInTheWay(dir) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if got := journalOf(t, dir); got != want {
			t.Errorf("%s: said %q; the journal is\n%s\nwant\n%s", what, said, got, want)
		}
	}
	t.Logf("%d files, %d mixups: %d went on, %d were refused", len(names), len(all), right, refused)
	if right == 0 || refused == 0 {
		t.Error("the mixups are not where they should be")
	}
}

// standsInTheWay reports whether a folder has the name of a file that a run writes at its end.
func standsInTheWay(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, run.PolicyName))
	return err == nil && info.IsDir()
}

// finished plays the run in dir to its end and returns its journal.
func finished(t *testing.T, c config.Config, dir string) string {
	t.Helper()
	l, said, err := restored(t, c, dir)
	if err != nil {
		t.Fatal(fmt.Sprint(said), err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return journalOf(t, dir)
}

// headerOf reads the header of the checkpoint in a file.
func headerOf(path string) (run.Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return run.Header{}, err
	}
	defer f.Close()
	return run.ReadHeader(f)
}
