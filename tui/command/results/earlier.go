package results

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/history"
)

// mostEarlier is the largest number of earlier runs whose configurations are looked at, the newest
// first.
const mostEarlier = 200

// Earlier is what earlier runs returned that have the settings of the run of c in a folder: runs below
// the folder of all runs, or beside that folder if it lies elsewhere, and results files there. Runs that
// were forked or changed by hand are left out. Each seed counts once, with its longest run: the same
// settings and seed are the same run. What cannot be read is no earlier run.
func Earlier(dir string, c config.Config) (all []history.Past) {
	settings, err := presets.Settings(c)
	if err != nil {
		return nil
	}
	of := kind{c, fingerprint(settings)}
	dirs, files := beside(dir)
	for _, d := range dirs {
		if r := of.load(d); r != nil {
			all = append(all, pastOf(r)...)
		}
	}
	for _, f := range files {
		found, _ := report.ReadResults(f) // of other columns: no results file
		for _, r := range found {
			if of.has(r.Task, r.Method, r.Scale, r.Fingerprint, r.Length()) {
				all = append(all, pastOf(r)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b history.Past) int {
		return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(b.Reach(), a.Reach()))
	})
	return slices.CompactFunc(all, func(a, b history.Past) bool { return a.Seed == b.Seed })
}

// kind is what runs have in common that differ in their seeds alone.
type kind struct {
	config      config.Config
	fingerprint string
}

func (k kind) has(task, method, scale, fingerprint string, steps int) bool {
	return task == k.config.Task && method == k.config.Method && scale == k.config.Scale && fingerprint == k.fingerprint &&
		(steps == k.config.Steps || !presets.FollowsLength(k.config))
}

// load reads a run of the kind that was left as it began; nil: it is another one.
func (k kind) load(dir string) *report.Run {
	doc, err := run.ReadFile(dir, run.ConfigName)
	if err != nil {
		return nil
	}
	c, err := presets.Decode(filepath.Join(dir, run.ConfigName), doc)
	if err != nil || c.Task != k.config.Task {
		return nil
	}
	settings, err := presets.Settings(c)
	if err != nil || !k.has(c.Task, c.Method, c.Scale, fingerprint(settings), c.Steps) {
		return nil
	}
	r, err := report.Load(dir)
	if err != nil || r.Forked != "" || len(r.ByHand()) > 0 {
		return nil
	}
	r.Begun(c.Seed)
	return r
}

// pastOf is what the seeds of a run returned.
func pastOf(r *report.Run) (all []history.Past) {
	for i, m := range r.Members {
		p := history.Past{Seed: m.Seed}
		for _, at := range m.Series[report.Return] {
			p.Steps, p.Returns = append(p.Steps, at.Step), append(p.Returns, at.Value)
		}
		if r.Diverges(i) {
			p.Diverged = r.Step
		}
		all = append(all, p)
	}
	return all
}

// beside are the folders of other runs, the newest first, and files that may be results files.
func beside(dir string) (dirs, files []string) {
	root := rundir.Root()
	if from, err := filepath.Rel(absolute(root), absolute(dir)); err == nil && filepath.IsLocal(from) {
		dirs, _ = report.Find(root) // none: there is no other run
	} else {
		root = filepath.Dir(absolute(dir))
	}
	found, _ := os.ReadDir(root) // as before
	for _, e := range found {
		switch path := filepath.Join(root, e.Name()); {
		case filepath.Ext(path) == resultsEnding:
			files = append(files, path)
		case !run.IsUnfinished(e.Name()) && run.Holds(path) && !slices.Contains(dirs, path):
			dirs = append(dirs, path)
		}
	}
	began := map[string]time.Time{}
	for _, d := range dirs {
		if info, err := os.Stat(filepath.Join(d, run.ConfigName)); err == nil {
			began[d] = info.ModTime()
		}
	}
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return absolute(d) == absolute(dir) })
	slices.SortStableFunc(dirs, func(a, b string) int { return began[b].Compare(began[a]) })
	return dirs[:min(len(dirs), mostEarlier)], files
}

// absolute is a path from the root of the file system, as far as that is known.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
