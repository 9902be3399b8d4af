package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/runflags"
)

// reopen resumes a run instead of beginning one. The run's configuration is fixed; only where and
// how it is computed may be chosen.
func reopen(d cli.Deps, r *runflags.Flags, h *heir) (*session, error) {
	for _, name := range append([]string{
		"preset", "task", "method", "scale", "set", "at", "seed", "members", "out", "schedule",
		"observation", "action-repeat", "tv", "env", "env-arg", "act-bound", "episode-steps",
	}, runflags.OfData...) {
		if r.Changed(name) {
			return nil, cli.Usagef("--resume goes on with the run as it is, or with more --steps: without --%s (pgrlab fork changes a run)", name)
		}
	}
	dir, at, err := rundir.SplitPosition(r.Resume)
	if err != nil {
		return nil, err
	}
	if dir, err = rundir.Find(dir); err != nil {
		return nil, err
	}
	if _, err := run.ReadFile(dir, run.ConfigName); errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usagef("resume %s: no run is there: give a run folder, or latest", dir)
	} else if err != nil {
		return nil, cli.Usagef("resume %s: %w", dir, err)
	}
	r.Preset = filepath.Join(dir, run.ConfigName)
	longer, err := longer(r, dir)
	if err != nil {
		return nil, err
	}
	config, task, err := r.Configure(d)
	if err != nil {
		return nil, err
	}
	if at == nil && rundir.Complete(dir, config.Steps) {
		return nil, completed{dir, beyond(config, dir)}
	}
	saving, err := savingOf(r)
	if err != nil {
		return nil, err
	}
	memory, err := gpuMemory(r)
	if err != nil {
		return nil, err
	}
	open := run.Open
	if h != nil {
		open = h.open
	}
	if by, atMost := run.Watched(dir); atMost > 0 && r.Stderr != nil {
		fmt.Fprintf(r.Stderr(), "%s has had %s: looking for up to %v whether it still does\n", by, dir, atMost)
	}
	folder, err := open(dir)
	if err != nil {
		return nil, err
	}
	s := &session{
		deps: d, config: config, task: task, threads: r.Threads, place: r.Place, memory: memory, folder: folder, ended: make(chan struct{}),
		saving: saving, resumption: &lab.Resumption{Saving: saving, DropTail: r.DropTail, At: at, Config: longer},
	}
	s.keepLog()
	if s.heir = h; s.heir != nil {
		s.paused(s.heir.order)
	}
	s.leaving = make(chan struct{}, 1)
	s.newServing()
	return s, nil
}

// longer is the new content of config.toml for the run in dir if --steps makes the run longer; nil:
// the file stays unchanged.
func longer(r *runflags.Flags, dir string) ([]byte, error) {
	if !r.Changed("steps") {
		return nil, nil
	}
	c, err := presets.Resolve(presets.Choice{Preset: r.Preset})
	if err != nil {
		return nil, cli.AsUsage(err)
	}
	if r.Steps == c.Steps && !rundir.Complete(dir, c.Steps) { // the same length was asked for again, after an interruption
		return nil, nil
	}
	if r.Steps <= c.Steps {
		return nil, cli.Usagef("resume %s: --steps is %d, but the run has %d: want more (pgrlab fork %s@STEP --steps N makes a shorter one)", dir, r.Steps, c.Steps, shell.Word(dir))
	}
	if c, err = c.Longer(r.Steps); err != nil {
		return nil, cli.Usagef("resume %s: it cannot be made longer: %w: begin it again with --steps %d, or go on otherwise: pgrlab fork %s --steps %d", dir, err, r.Steps, shell.Word(dir), r.Steps)
	}
	if c.Preset, err = rundir.WrittenPreset(r.Preset); err != nil {
		return nil, err
	}
	return presets.Encode(c)
}

// completed says that there is nothing to resume; that is not a failure.
type completed struct{ dir, beyond string }

func (c completed) Error() string {
	return fmt.Sprintf("%s has made all its steps; %s", c.dir, c.beyond)
}

// orComplete reports that a run was complete already and drops that error.
func orComplete(err error, w io.Writer) error {
	var c completed
	if errors.As(err, &c) {
		fmt.Fprintln(w, c.Error())
		return nil
	}
	return err
}

// restore makes the lab of a session, new or resumed.
func (s *session) restore(ctx context.Context, device cli.Device) (*lab.Lab, error) {
	if s.resumption == nil {
		l, err := lab.New(ctx, s.config, s.task, device, s.folder)
		if err != nil {
			return nil, err
		}
		l.Saving(s.saving)
		if s.recorded != nil {
			l.Record(s.recorded)
			l.Send(event.Checkpoint{By: "recorded transitions"}) // nothing else has them; its mailbox is still empty
			if s.own != "" {
				l.Send(event.Note{Text: s.own, By: "dream"})
			}
		}
		s.said = append(s.said, s.room(l)...)
		s.said = append(s.said, s.unmet()...)
		s.said = append(s.said, s.unknown()...)
		s.said = append(s.said, framesText(&s.config, s.task)...)
		return l, nil
	}
	l, said, err := lab.Restore(ctx, s.config, s.task, device, s.folder, *s.resumption)
	s.said = append(s.said, said...)
	if err == nil {
		s.history = len(l.Events(0))
	}
	return l, err
}

// unmet says what the configuration asks for and the run is too short for.
func (s *session) unmet() []string {
	texts := s.config.TooShort()
	if text := s.config.Unreached(); text != "" {
		texts = append(texts, text)
	}
	return texts
}

// unknown says what is not known of a task: how long an episode of another program is.
func (s *session) unknown() (said []string) {
	c, o := &s.config, s.config.Environment.Outside
	if o.Met() && o.Spec.Limit == 0 && o.EpisodeSteps == 0 {
		said = append(said, fmt.Sprintf("%s does not say how long its episodes are: they are truncated after %d steps; --episode-steps sets another number", c.Task, s.task.EpisodeSteps))
	}
	return said
}

// room says how much disk space the run will take, and how much there is.
func (s *session) room(l *lab.Lab) []string {
	need, err := l.DiskNeed()
	if err != nil {
		return nil // the run cannot be saved: the first checkpoint reports that
	}
	return []string{roomText(need, run.Free(s.folder.Dir()), s.saving.Disk)}
}

// roomText says what a run needs on the disk, and what does not fit: into the bytes that are free, or
// into a limit on checkpoints and their data (0: none was asked for). The limit is no reason to refuse
// a run, because it keeps its latest checkpoint.
func roomText(need cost.Disk, free, limit int64) string {
	text := fmt.Sprintf("on the disk: about %s for a checkpoint", cli.Size(need.Checkpoint))
	if need.Generation > 0 {
		text += fmt.Sprintf(", %s for a generation", cli.Size(need.Generation))
	}
	most := ""
	if need.Held < need.Real { // the rest is written only if there is a checkpoint while D_real holds it
		most = "up to "
	}
	text += fmt.Sprintf(", %s%s in all", most, cli.Size(need.Total()))
	least := need.Checkpoint + need.Generation + need.Real
	switch {
	case free > 0 && need.Total() > free:
		text += fmt.Sprintf(": only %s are free", cli.Size(free))
	case limit > 0 && least > limit:
		text += fmt.Sprintf(": --disk %s may be exceeded: the latest checkpoint and its data alone take up to %s in the end; only that one would stay", cli.Size(limit), cli.Size(least))
	case limit > 0 && need.Total() > limit:
		text += fmt.Sprintf(": with --disk %s fewer than the last 3 checkpoints and the best may stay", cli.Size(limit))
	}
	return text
}

// framesText says how much memory the frames of a run come to take, if it sees any.
func framesText(c *config.Config, on task.Task) []string {
	if !c.Sees() {
		return nil
	}
	return []string{fmt.Sprintf("in memory: frames take up to %s", cli.Size(int64(float64(c.Members)*c.FramesMemory(on))))}
}

// savingOf is what --checkpoint-every and --disk ask for.
func savingOf(r *runflags.Flags) (lab.Saving, error) {
	s := lab.Saving{Every: r.Every, Lean: r.Lean}
	if r.Every < 0 || r.Every == 0 && r.Changed != nil && r.Changed("checkpoint-every") {
		return s, cli.Usagef("--checkpoint-every is %s: want more than 0s", r.Every)
	}
	if r.Disk == "" {
		return s, nil
	}
	var err error
	if s.Disk, err = cli.ParseSize(r.Disk); err != nil {
		return s, cli.Usagef("--disk %s: %w", r.Disk, err)
	}
	return s, nil
}

// gpuMemory is what --gpu-mem asks for; 0: nothing.
func gpuMemory(r *runflags.Flags) (int64, error) {
	if r.GPUMem == "" {
		return 0, nil
	}
	n, err := cli.ParseSize(r.GPUMem)
	if err != nil {
		return 0, cli.Usagef("--gpu-mem %s: %w", r.GPUMem, err)
	}
	return n, nil
}
