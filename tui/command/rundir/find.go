package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/offline"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// Latest names the run folder whose journal was written last.
const Latest = "latest"

// Find is the run folder that a name refers to: a path, or latest.
func Find(name string) (string, error) {
	if name != Latest || Exists(name) {
		return name, nil
	}
	dir, err := run.Latest(Root())
	return dir, cli.AsUsage(err)
}

// WrittenPreset is the preset that a config.toml gives as its own.
func WrittenPreset(path string) (string, error) {
	doc, err := run.ReadFile(filepath.Split(path))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	c, err := presets.Decode(path, doc)
	return c.Preset, err
}

// afterTheEnd are the lines that a run may get when it is over: of analyses and of its forks.
var afterTheEnd = []string{event.TypeExamined, event.TypeFork, event.TypeForkLook}

// Complete says whether the journal ends with all steps done, apart from what was added later.
func Complete(dir string, steps int) (complete bool) {
	fromTheEnd(dir, func(lines []string) (enough bool) {
		for _, line := range slices.Backward(lines) {
			e, err := run.NewReader(strings.NewReader(line)).Next()
			if err != nil || !slices.Contains(afterTheEnd, e.Type) {
				complete = err == nil && e.Type == event.TypeDone && e.Step >= steps
				return true
			}
		}
		return false
	})
	return complete
}

// fromTheEnd calls look with the whole lines in the last 4 KiB of a journal, and with those in four times
// as many bytes until they are enough or the whole journal.
func fromTheEnd(dir string, look func(lines []string) (enough bool)) {
	file, err := run.OpenFile(dir, run.JournalName)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return
	}
	for tail := int64(4096); ; tail *= 4 {
		from := max(0, info.Size()-tail)
		text, err := io.ReadAll(io.NewSectionReader(file, from, tail))
		if err != nil {
			return
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if from > 0 {
			lines = lines[1:] // this one may begin before
		}
		if look(lines) || from == 0 {
			return
		}
	}
}

// All are the run folders below the folder for new runs; there may be none yet.
func All() []string {
	dirs, _ := report.Find(Root())
	return dirs
}

// Near is a path in the form that people in this folder would write.
func Near(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// Absolute is an absolute path whose last part is the folder's own name.
func Absolute(dir string) string {
	if path, err := filepath.Abs(dir); err == nil {
		return path
	}
	return strings.TrimRight(dir, "/")
}

// Free is dir, with a number appended if dir exists already.
func Free(dir string) string {
	name := dir
	for n := 2; Exists(dir); n++ {
		dir = fmt.Sprintf("%s-%d", name, n)
	}
	return dir
}

// Checkpoint finds the checkpoint that DIR or DIR@STEP refers to, among those from which a run
// continues beyond it.
func Checkpoint(name string) (run.Found, error) {
	damaged := ""
	dir, at, err := SplitPosition(name)
	if err != nil {
		return run.Found{}, err
	}
	if dir, err = Find(dir); err != nil {
		return run.Found{}, err
	}
	if !Exists(dir) {
		return run.Found{}, cli.Usagef("%s: there is no such run folder", dir)
	}
	all, err := run.Checkpoints(dir)
	if err != nil {
		return run.Found{}, err
	}
	for _, c := range all {
		if c.Err != nil {
			damaged = fmt.Sprintf("; %s cannot be read: %v", filepath.Base(c.Path), c.Err)
		}
		var p knob.Position
		if c.Err == nil && !c.Ended && (at == nil || p.UnmarshalText([]byte(c.Position)) == nil && !at.Before(p)) {
			return c, nil
		}
	}
	if len(all) == 0 {
		return run.Found{}, cli.Usagef("%s: there is no checkpoint to continue from yet: pgrlab checkpoint saves one while the run goes on", name)
	}
	if at == nil {
		return run.Found{}, cli.Usagef("%s: there is no checkpoint to continue from%s", name, damaged)
	}
	return run.Found{}, cli.Usagef("%s: there is no checkpoint at or before that step%s", name, damaged)
}

// SplitPosition splits DIR@STEP or DIR@STEP/PHASE:I; without @ the position is nil.
func SplitPosition(name string) (dir string, at *knob.Position, err error) {
	i := strings.LastIndexByte(name, '@')
	if i < 0 || Exists(name) {
		return name, nil, nil
	}
	p, err := knob.ParsePosition(name[i+1:])
	if err != nil {
		return "", nil, cli.Usagef("%s: %q is not a step: want DIR@STEP", name, name[i+1:])
	}
	return name[:i], &p, nil
}

// Standing is how far the run in a folder has come according to the end of its journal.
func Standing(dir string) (where string, done bool) {
	step, steps := 0, 0
	fromTheEnd(dir, func(lines []string) (enough bool) {
		for _, line := range lines {
			if e, err := run.NewReader(strings.NewReader(line)).Next(); err == nil {
				step = max(step, e.Step)
				enough = enough || !slices.Contains(afterTheEnd, e.Type) // an analysis may be of an earlier step
			}
		}
		return enough
	})
	if saved, err := Saved(dir, step); err == nil {
		steps = saved.Config.Steps
	}
	return fmt.Sprintf("at step %d of %d", step, steps), Complete(dir, steps)
}

// Saved reads the configuration of a run folder.
func Saved(dir string, step int) (offline.Run, error) {
	doc, err := Config(dir)
	if err != nil {
		return offline.Run{}, err
	}
	c, err := presets.Decode(filepath.Join(dir, run.ConfigName), doc)
	return offline.Run{Config: c, Dir: dir, Step: step}, err
}

// Config is the content of a run folder's config.toml. The error names the folder, and is one that the
// user can fix.
func Config(dir string) ([]byte, error) {
	doc, err := run.ReadFile(dir, run.ConfigName)
	switch {
	case err == nil:
		return doc, nil
	case !Exists(dir):
		return nil, cli.Usagef("%s: there is no such run folder", dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Usagef("%s has no %s: give a run folder", dir, run.ConfigName)
	}
	return nil, cli.Usagef("%s: its %s: %w", dir, run.ConfigName, err)
}

// SplitStep reads DIR or DIR@STEP; without a step the step is negative.
func SplitStep(text string) (dir string, step int, err error) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 || Exists(text) {
		return text, -1, nil
	}
	if step, err = knob.ParseCount(text[i+1:]); err != nil {
		return "", 0, fmt.Errorf("%q is no step: want DIR or DIR@STEP", text[i+1:])
	}
	return text[:i], step, nil
}

// Name is the name of a run among others: the name of its folder or, for a run of a sweep, of the
// folder around it.
func Name(dir string) string {
	dir = Absolute(dir)
	if name := filepath.Base(dir); name != "run" {
		return name
	}
	if name := filepath.Base(filepath.Dir(dir)); Exists(filepath.Join(filepath.Dir(dir), "job.toml")) {
		return name
	}
	return "run"
}

// OpenJournal opens a journal by its own path or by the path of its run folder.
func OpenJournal(path string) (io.ReadCloser, error) {
	path, err := Find(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, cli.Usagef("read journal: %v: give a run folder or an events.jsonl", err)
	}
	var f io.ReadCloser
	if info.IsDir() {
		f, err = run.OpenFile(path, run.JournalName)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, cli.Usagef("read journal: %s has no %s: give a run folder or an events.jsonl", path, run.JournalName)
		}
		if err != nil {
			return nil, fmt.Errorf("read journal of %s: %w", path, err)
		}
	} else {
		f, err = run.OpenNamed(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return f, nil
}
