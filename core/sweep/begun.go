package sweep

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// begun says whether anything of a sweep has begun, or may begin by itself: a job was tried, a worker
// has registered, or jobs were given to hosts or to Slurm.
func (g *Grid) begun() bool {
	for _, j := range g.Jobs {
		entries, err := g.folder.ReadDir(j.Name())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		for _, e := range entries {
			if e.Name() != jobName {
				return true
			}
		}
	}
	for _, record := range []string{"ssh.json", "slurm.json"} {
		if _, err := g.folder.Lstat(record); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	workers, err := g.folder.ReadDir(workersName)
	return len(workers) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// remove removes a sweep of which nothing has begun. Files that are not of a sweep stay.
func (g *Grid) remove() error {
	if err := g.folder.Remove(gridName); err != nil { // first, so that nothing begins
		return err
	}
	if err := g.folder.Remove(notNeededName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, j := range g.Jobs {
		if err := g.folder.Remove(filepath.Join(j.Name(), jobName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := g.folder.Remove(j.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
