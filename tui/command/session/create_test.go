package session

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

// Runs that begin at the same moment without a folder of their own each get another one.
func TestRunsThatBeginAtOnce(t *testing.T) {
	t.Setenv(cli.RunsVariable, filepath.Join(t.TempDir(), "runs"))
	var met, all sync.WaitGroup
	folders, errs := make([]*run.Folder, 4), make([]error, 4)
	met.Add(len(folders))
	for i := range folders {
		all.Go(func() {
			var once sync.Once
			folders[i], errs[i] = create("", nil, func() string {
				dir := rundir.Default(time.Unix(0, 0), "t", "m", 1)
				once.Do(func() { // when each has found the same name
					met.Done()
					met.Wait()
				})
				return dir
			})
		})
	}
	all.Wait()
	dirs := map[string]bool{}
	for i, f := range folders {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		dirs[f.Dir()] = true
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(dirs) != len(folders) {
		t.Errorf("%d runs are in %v", len(folders), dirs)
	}
	if _, err := create(folders[0].Dir(), nil, func() string { return "" }); err == nil {
		t.Error("a run was put where another one is")
	}
}
