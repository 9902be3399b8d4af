package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
)

// A job that finds a file or a link in the place of its run fails, and its reason is on the disk.
func TestAnAttemptWithoutAFolderForItsRun(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"file": func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"link": func(path string) error { return os.Symlink(t.TempDir(), path) },
	} {
		g := made(t)
		j := g.Jobs[0]
		if err := put(g.Run(j)); err != nil {
			t.Fatal(err)
		}
		err := attempt(t.Context(), &cobra.Command{RunE: func(*cobra.Command, []string) error { t.Error("it trains"); return nil }}, g, j, nil)
		if err == nil || !strings.Contains(err.Error(), "run is no folder") {
			t.Errorf("%s: %v", name, err)
		}
		if all := failures(g); len(all) != 1 || !strings.HasPrefix(all[0], j.Name()+"  failed: ") || !strings.Contains(all[0], "run is no folder") {
			t.Errorf("%s: %q", name, all)
		}
	}
}

// On a disk without locks attempts at a job begin on two machines at the same time. One of them finds
// the other's run at any point of its beginning, leaves the job to it and removes nothing.
func TestAnAttemptBesideAnother(t *testing.T) {
	holds := cli.Usagef("run folder %w", run.ErrHolds)
	begins := func(dir string) { // the other one begins the run
		f, err := run.Create(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
	}
	file := func(dir, name string) {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	without := func(dir, name string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		before    func(dir string)       // what the attempt finds
		train     func(dir string) error // nil: it must not be called
		elsewhere bool
		config    bool // a configuration is there afterwards
	}{
		"before the other's journal":    {func(dir string) { begins(dir); without(dir, run.JournalName) }, nil, true, true},
		"before the other's beginning":  {func(string) {}, func(dir string) error { begins(dir); return holds }, true, true},
		"beside the other's first file": {func(string) {}, func(dir string) error { begins(dir); without(dir, run.JournalName); return holds }, true, true},
		"after the other took over":     {func(dir string) { file(dir, run.ConfigName); file(dir, run.JournalName) }, func(string) error { return fmt.Errorf("append: %w", run.ErrLost) }, true, true},
		"after one that was killed": {func(dir string) { file(dir, run.ConfigName) }, func(dir string) error {
			if _, err := os.Lstat(filepath.Join(dir, run.ConfigName)); err == nil {
				return holds
			}
			return errors.New("it trains")
		}, false, false},
		"where a journal lies": {func(dir string) { file(dir, run.JournalName) }, func(string) error { return holds }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := made(t)
			j := g.Jobs[0]
			c.before(g.Run(j))
			root := &cobra.Command{DisableFlagParsing: true, SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
				if c.train == nil {
					t.Fatal("it trains")
				}
				return c.train(g.Run(j))
			}}
			err := attempt(t.Context(), root, g, j, nil)
			var other elsewhere
			if err == nil || errors.As(err, &other) != c.elsewhere {
				t.Errorf("it ends with %v", err)
			}
			if _, err := os.Lstat(filepath.Join(g.Run(j), run.ConfigName)); (err == nil) != c.config {
				t.Errorf("the configuration: %v", err)
			}
		})
	}
}
