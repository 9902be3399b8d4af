package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/presets"
)

// latest names the run folder whose journal was written last.
const latest = "latest"

// find is the run folder that a person means: a path, or latest.
func find(name string) (string, error) {
	if name != latest || exists(name) {
		return name, nil
	}
	dir, err := run.Latest(runsRoot())
	return dir, asUsage(err)
}

// reopen goes on with a run instead of beginning one. What it is made of is fixed;
// only where and how it is computed may be chosen.
func (r *runFlags) reopen(d Deps) (*session, error) {
	for _, name := range []string{"preset", "task", "method", "scale", "set", "at", "seed", "out", "schedule"} {
		if r.changed(name) {
			return nil, usagef("--resume goes on with the run as it is, or with more --steps: without --%s (pgrlab fork changes a run)", name)
		}
	}
	dir, at, err := placed(r.resume)
	if err != nil {
		return nil, err
	}
	if dir, err = find(dir); err != nil {
		return nil, err
	}
	if _, err := run.ReadFile(dir, run.ConfigName); errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("resume %s: no run is there: give a run folder, or latest", dir)
	} else if err != nil {
		return nil, usagef("resume %s: %w", dir, err)
	}
	r.preset = filepath.Join(dir, run.ConfigName)
	longer, err := r.longer(dir)
	if err != nil {
		return nil, err
	}
	config, task, err := r.configure(d)
	if err != nil {
		return nil, err
	}
	if at == nil && complete(dir, config.Steps) {
		return nil, completed{dir}
	}
	saving, err := r.saving()
	if err != nil {
		return nil, err
	}
	memory, err := r.gpuMemory()
	if err != nil {
		return nil, err
	}
	open := run.Open
	if r.heir != nil {
		open = r.heir.open
	}
	if by, atMost := run.Watched(dir); atMost > 0 && r.stderr != nil {
		fmt.Fprintf(r.stderr(), "%s has had %s: looking for up to %v whether it still does\n", by, dir, atMost)
	}
	folder, err := open(dir)
	if err != nil {
		return nil, err
	}
	s := &session{
		deps: d, config: config, task: task, threads: r.threads, place: r.place, memory: memory, folder: folder, ended: make(chan struct{}),
		saving: saving, resumption: &lab.Resumption{Saving: saving, DropTail: r.dropTail, At: at, Config: longer},
	}
	if s.heir = r.heir; s.heir != nil {
		s.paused(s.heir.order)
	}
	s.leaving = make(chan struct{}, 1)
	s.newServing()
	return s, nil
}

// longer is what config.toml of the run in dir is to hold where --steps makes it longer;
// nil: it stays as it is.
func (r *runFlags) longer(dir string) ([]byte, error) {
	if !r.changed("steps") {
		return nil, nil
	}
	c, err := presets.Resolve(presets.Choice{Preset: r.preset})
	if err != nil {
		return nil, asUsage(err)
	}
	if r.steps == c.Steps && !complete(dir, c.Steps) { // asked for once more, after a break
		return nil, nil
	}
	if r.steps <= c.Steps {
		return nil, usagef("resume %s: --steps is %d, but the run has %d: want more (pgrlab fork %s@STEP --steps N makes a shorter one)", dir, r.steps, c.Steps, dir)
	}
	if c, err = c.Longer(r.steps); err != nil {
		return nil, usagef("resume %s: it cannot be made longer: %w: begin it anew with --steps %d, or go on otherwise: pgrlab fork %s --steps %d", dir, err, r.steps, dir, r.steps)
	}
	if c.Preset, err = writtenPreset(r.preset); err != nil {
		return nil, err
	}
	return presets.Encode(c)
}

// writtenPreset is the preset that a config.toml names as its own.
func writtenPreset(path string) (string, error) {
	doc, err := run.ReadFile(filepath.Split(path))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	c, err := presets.Decode(path, doc)
	return c.Preset, err
}

// completed says that there is nothing to resume: no failure.
type completed struct{ dir string }

func (c completed) Error() string {
	return fmt.Sprintf("%s has made all its steps: --steps N, with a larger N, goes on beyond them", c.dir)
}

// orComplete says so and forgets the error if a run was complete already.
func orComplete(err error, w io.Writer) error {
	var c completed
	if errors.As(err, &c) {
		fmt.Fprintln(w, c.Error())
		return nil
	}
	return err
}

// complete says whether the journal ends with all steps done.
func complete(dir string, steps int) bool {
	file, err := run.OpenFile(dir, run.JournalName)
	if err != nil {
		return false
	}
	defer file.Close()
	// The line done is short and the last one.
	const most = 4096
	info, err := file.Stat()
	if err != nil {
		return false
	}
	from := max(0, info.Size()-most)
	text, err := io.ReadAll(io.NewSectionReader(file, from, most))
	if err != nil {
		return false
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	r := run.NewReader(strings.NewReader(lines[len(lines)-1]))
	e, err := r.Next()
	return err == nil && e.Type == event.TypeDone && e.Step >= steps
}

// restore makes the lab of a session, new or gone on with.
func (s *session) restore(device Device) (*lab.Lab, error) {
	if s.resumption == nil {
		l, err := lab.New(s.config, s.task, device, s.folder)
		if err != nil {
			return nil, err
		}
		l.Saving(s.saving)
		s.said = append(s.said, s.room(l)...)
		return l, nil
	}
	l, said, err := lab.Restore(s.config, s.task, device, s.folder, *s.resumption)
	s.said = append(s.said, said...)
	if err == nil {
		s.history = len(l.Events(0))
	}
	return l, err
}

// room says what the run will take on the disk, and what there is.
func (s *session) room(l *lab.Lab) []string {
	need, err := l.DiskNeed()
	if err != nil {
		return nil // it cannot be saved: the first checkpoint says so
	}
	text := fmt.Sprintf("on the disk: about %s for a checkpoint", size(need.Checkpoint))
	if need.Generation > 0 {
		text += fmt.Sprintf(", %s for a generation", size(need.Generation))
	}
	text += fmt.Sprintf(", %s in all", size(need.Total()))
	free := run.Free(s.folder.Dir())
	if free > 0 && need.Total() > free {
		text += fmt.Sprintf(": only %s are free", size(free))
	}
	return []string{text}
}

// saving is what --checkpoint-every and --disk ask for.
func (r *runFlags) saving() (lab.Saving, error) {
	s := lab.Saving{Every: r.every, Lean: r.lean}
	if r.every < 0 {
		return s, usagef("--checkpoint-every is %s: want more than 0s", r.every)
	}
	if r.disk == "" {
		return s, nil
	}
	var err error
	if s.Disk, err = parseSize(r.disk); err != nil {
		return s, usagef("--disk %s: want a size, for example 5GiB", r.disk)
	}
	return s, nil
}

// gpuMemory is what --gpu-mem asks for; 0: nothing.
func (r *runFlags) gpuMemory() (int64, error) {
	if r.gpuMem == "" {
		return 0, nil
	}
	n, err := parseSize(r.gpuMem)
	if err != nil {
		return 0, usagef("--gpu-mem %s: want a size, for example 4GiB", r.gpuMem)
	}
	return n, nil
}

var sizes = []struct {
	unit  string
	bytes float64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}, {"", 1},
}

// parseSize reads "5GiB", "500 MB" or a number of bytes.
func parseSize(text string) (int64, error) {
	for _, s := range sizes {
		number, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(text)), strings.ToLower(s.unit))
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n*s.bytes >= 1 && n*s.bytes < 1<<62) {
			return 0, fmt.Errorf("%q is no size", text)
		}
		return int64(n * s.bytes), nil
	}
	return 0, fmt.Errorf("%q is no size", text)
}

// size writes a number of bytes for people.
func size(bytes int64) string {
	for _, s := range sizes[:4] {
		if float64(bytes) >= s.bytes {
			return fmt.Sprintf("%.1f %s", float64(bytes)/s.bytes, s.unit)
		}
	}
	return fmt.Sprintf("%d B", bytes)
}
