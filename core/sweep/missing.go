package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

const notNeededName = "not-needed.json" // the indexes of the jobs whose results exist elsewhere

// Missing lists the jobs that are neither done nor left out.
func (g *Grid) Missing() []Job {
	var missing []Job
	for _, j := range g.Jobs {
		if _, done := g.Result(j); !done && !g.left[j.Index] {
			missing = append(missing, j)
		}
	}
	return missing
}

// NeedOnly takes all jobs but those of needed out of the work, because their results exist elsewhere or
// another process does them. It must be called before an Engine runs. It affects only this Grid: Keep
// writes it.
func (g *Grid) NeedOnly(needed func(Job) bool) {
	g.left = map[int]bool{}
	for _, j := range g.Jobs {
		if !needed(j) {
			g.left[j.Index] = true
		}
	}
}

// KeepNeeded makes the jobs that this Grid leaves out those that every Grid leaves out which is opened in
// this folder from now on.
func (g *Grid) KeepNeeded() error {
	if len(g.left) > 0 {
		return replaceJSON(g.folder, notNeededName, slices.Sorted(maps.Keys(g.left)))
	}
	if err := g.folder.Remove(notNeededName); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readLeft reads which jobs are left out.
func (g *Grid) readLeft() error {
	text, err := g.folder.Read(notNeededName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var left []int
	if err == nil {
		err = json.Unmarshal(text, &left)
	}
	if err != nil {
		return fmt.Errorf("its %s is damaged: %w", notNeededName, err)
	}
	g.NeedOnly(func(j Job) bool { return !slices.Contains(left, j.Index) })
	return nil
}

// IsLeft says whether a job was taken out of the work.
func (g *Grid) IsLeft(j Job) bool { return g.left[j.Index] }
