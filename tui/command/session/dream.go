package session

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/printable"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/history"
)

// notOfDreams are the flags of runs that say something of env steps.
var notOfDreams = []string{
	"data", "pretrain", "env", "schedule", "steps", "observation", "action-repeat", "tv", "resume", "drop-tail",
	"env-arg", "python", "act-bound", "episode-steps", "env-timeout", "env-procs",
}

// DreamCommand is dream.
func DreamCommand(d cli.Deps) *cobra.Command {
	var r runflags.Flags
	var once, lines bool
	c := &cobra.Command{
		Use:   "dream FILE|RUN",
		Short: "fit a generator to recorded transitions, and guide it",
		Long: `Does lines 3, 5 and 6 of PGR's Algorithm 1 on data alone: scores recorded transitions
with F, fits a generator to them and generates. There is no agent and no environment to
step. The data are a file of transitions (npz, or HDF5 as D4RL, Minari and robomimic write
it), or D_real of a run at its last checkpoint, or at that of RUN@STEP.

The screen shows what was generated: F that was asked for and that came out, how much of
the data is covered, what is copied, and, with --task and for runs, the error of the
generated outcomes by the simulator. A change of F, ω, k, the sampler's steps or the fit
makes the next generation at once; each is kept beside the ones before. F has to be of
transitions alone: curiosity, rnd, count, disagreement, reward, or a formula of such.

A dream is a run: it is saved in a run folder, pgrlab --resume continues it, and
pgrlab export RUN --buffer syn writes what was generated as npz. Without an agent that
could ask for it, a formula cannot name td, return or q.`,
		Example: `  pgrlab dream hopper.npz
  pgrlab dream hopper.npz --task Hopper-v2 --scale short
  pgrlab dream runs/a@20000 --set relevance=count --set guidance=3
  pgrlab dream hopper.npz --once --out dreams/a && pgrlab export dreams/a --buffer syn`,
		Args: cli.RangeArgs(1, 1, "a file of transitions, or a run folder"),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range notOfDreams {
				if r.Changed(name) {
					return cli.Usagef("dream: --%s is of runs that step an environment: leave it out", name)
				}
			}
			if !once && !lines && (!terminal.IsTerminal(c.InOrStdin()) || !terminal.IsTerminal(c.OutOrStdout())) {
				return cli.Usagef("needs a terminal: ssh -t, --once for one generation without a screen, or --plain")
			}
			s, err := openDream(d, c, &r, args[0], once)
			if err != nil {
				return fmt.Errorf("dream: %w", err)
			}
			if once {
				return s.headless(c.Context(), c.ErrOrStderr())
			}
			if s.home, err = replay.SettingsHome(c.ErrOrStderr()); err != nil {
				return err
			}
			s.lines = lines
			return s.onScreen(c.Context(), c.ErrOrStderr())
		},
	}
	r.Bind(c)
	for _, name := range notOfDreams {
		_ = c.Flags().MarkHidden(name) // the flag exists
	}
	c.Flags().BoolVar(&once, "once", false, "make one generation without a screen, and end")
	c.Flags().BoolVar(&lines, "plain", false, "print lines instead of a screen, for screen readers and logs")
	return c
}

// mostDreams is how many generations a dream may have.
const mostDreams = 1_000_000

// openDream makes the session of a dream about a file or a run.
func openDream(d cli.Deps, c *cobra.Command, r *runflags.Flags, of string, once bool) (*session, error) {
	data, err := dataOf(d, c, r, of)
	if err != nil {
		return nil, err
	}
	if data.rows < leastRows {
		return nil, cli.Usagef("%s has %d transitions, and a generator is fitted to %d at least", of, data.rows, leastRows)
	}
	changed := r.Changed
	r.Changed = func(name string) bool { return name == "steps" || changed(name) }
	r.Steps = mostDreams
	if once {
		r.Steps = 1
	}
	r.Set = append(dreaming(data.rows), r.Set...)
	s, err := openRun(d, r, time.Now(), nil)
	if err != nil {
		return nil, err
	}
	s.recorded, s.own = data.numbers, data.own
	return s, nil
}

// dreaming are the settings that make a run a dream about so many transitions.
func dreaming(rows int) []string {
	set := func(key string, value any) string { return fmt.Sprintf("%s=%v", key, value) }
	return []string{
		set("agent.learner", config.LearnerNone), set("start_steps", 0), set("evaluation.every", 0), set("evaluation.analysed_rows", analysedOfDreams),
		set("buffer", max(rows, 1<<20)), set("rnd.warmup", warmupOfDreams), set("disagreement.warmup", warmupOfDreams),
		set("curiosity.warmup", curiosityUpdates), set("curiosity.lr", curiosityRate),
	}
}

const (
	analysedOfDreams = 1024   // generated rows that are compared with the data: they are all that there is to see
	warmupOfDreams   = 10_000 // updates by which F learns, in place of one for each env step

	// The curiosity model's updates take ten times as long as the others'. With this rate it needs a third of
	// them: docs/dream.md has what was compared.
	curiosityUpdates = 3_000
	curiosityRate    = 1e-3
)

// leastRows is the number of transitions to which a generator is fitted at least.
const leastRows = 2

// recordedData are the transitions of a dream.
type recordedData struct {
	rows    int
	numbers []float32 // [rows, width]; nil: they are in a file
	own     string    // what the run from which they come generated itself; "": nothing that was compared
}

// dataOf finds the transitions that a dream is about, and says in the flags what they are of.
func dataOf(d cli.Deps, c *cobra.Command, r *runflags.Flags, of string) (recordedData, error) {
	dir, step, err := rundir.SplitStep(of)
	if err != nil {
		return recordedData{}, err
	}
	if found, err := rundir.Find(dir); err == nil && rundir.Exists(filepath.Join(found, run.ConfigName)) {
		return dataOfRun(d, r, found, step)
	}
	obs, act, rows, err := r.SizesOf(of)
	if err == nil {
		err = c.Flags().Set("data", of)
	}
	if err != nil {
		return recordedData{}, cli.AsUsage(err)
	}
	r.Recorded = &task.Spec{Obs: obs, Act: act}
	if r.Task == "" {
		r.Task = task.OfData + printable.Line(filepath.Base(of))
	}
	return recordedData{rows: rows}, nil
}

// dataOfRun is dataOf for D_real of a run.
func dataOfRun(d cli.Deps, r *runflags.Flags, dir string, step int) (recordedData, error) {
	saved, err := rundir.Saved(dir, step)
	if err != nil {
		return recordedData{}, err
	}
	c := saved.Config
	switch {
	case c.Fills():
		return recordedData{}, cli.Usagef("%s: its D_real holds what learner %s makes of its experience, which only that run can read: want a run of states", dir, c.Agent.Learner)
	case c.Sees():
		return recordedData{}, cli.Usagef("%s sees frames: want a run of states", dir)
	}
	t, err := d.TaskIn(dir, c.Task, c.Environment)
	if err != nil {
		return recordedData{}, err
	}
	if t, err = t.Played(c.Played()); err != nil {
		return recordedData{}, err
	}
	rows, err := saved.RealBuffer(t, 0)
	if err != nil {
		return recordedData{}, err
	}
	all := recordedData{rows: rows.Len()}
	for i := range rows.Len() {
		all.numbers = append(all.numbers, rows.Row(i)...)
	}
	if all.own, err = ownGeneration(dir, saved.Step); err != nil {
		return recordedData{}, err
	}
	dreamOfRun(d, r, dir, &c, t)
	return all, nil
}

// ownGeneration says how wrong the last generation is that a run made itself up to a checkpoint, for a dream to
// stand beside; "": there is none, or no simulator for it. A negative step is that of the last checkpoint.
func ownGeneration(dir string, step int) (text string, err error) {
	if step < 0 {
		found, err := run.Checkpoints(dir)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(found, func(f run.Found) bool { return f.Err == nil })
		step = found[max(0, i)].Step // its D_real was read
	}
	events, err := history.ReadJournal(dir)
	if err != nil {
		return "", err
	}
	for _, e := range events {
		g, is := e.Body.(event.Generated)
		if !is || e.Step > step || e.Member > 0 || g.Dynamics == nil {
			continue
		}
		text = fmt.Sprintf("the run itself at %s: s'-s error %.3g, r error %.3g", knob.FormatCount(e.Step), g.Dynamics.Change, g.Dynamics.RewardRelative)
	}
	return text, nil
}

// dreamOfRun makes the flags those of a dream about a run: its F and its generator are those of the run, if it
// has any. The program of its task is not started.
func dreamOfRun(d cli.Deps, r *runflags.Flags, dir string, c *config.Config, t task.Task) {
	r.Recorded = &task.Spec{Obs: t.ObsSize, Act: t.ActSize, Limit: t.EpisodeSteps, Terminates: t.Terminates, Names: t.Names}
	if !r.Changed("preset") {
		r.Preset = filepath.Join(dir, run.ConfigName)
	}
	if (!c.Generates() || c.Has()&knob.UseRollouts != 0) && !r.Changed("method") {
		r.Method = methodOfDreams
	}
	if r.Task == "" && d.Simulates(c.Task) {
		r.Task = task.OfData + filepath.Base(dir)
	}
}

// methodOfDreams is the method of dreams about data that no method with a generator gathered, or one whose
// generator rolls out a policy.
const methodOfDreams = "pgr-curiosity"

// dreamt says at the end what a dream has, and where.
func (s *session) dreamt(generations int) []string {
	dir, has := shell.Word(s.folder.Dir()), knob.FormatCount(generations)+" generations"
	if generations == 1 {
		has = "1 generation"
	}
	said := []string{
		fmt.Sprintf("dream of %s on %s: %s", s.config.Method, s.config.Task, has),
		"run folder: " + s.folder.Dir(),
		"what was generated: pgrlab export " + dir + " --buffer syn",
	}
	if generations < s.config.Steps {
		return append(said, "go on: pgrlab --resume "+dir)
	}
	return append(said, "look again: pgrlab replay "+dir)
}
