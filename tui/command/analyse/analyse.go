package analyse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/offline"
	"pgrlab/core/printable"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/remote"
)

// analyseRequest holds the flags of analyse.
type analyseRequest struct {
	step, threads   int
	referenceF, out string
	journal, json   bool
	refits          bool // --refit
	refit           refitFlags
	whatIfs         bool // --what-if
	whatIf          whatIfFlags
	timeout         time.Duration
	inspect.Examination
}

// Command is analyse.
func Command(d cli.Deps) *cobra.Command {
	r := analyseRequest{Examination: inspect.DefaultExamination(), timeout: 10 * time.Minute}
	c := &cobra.Command{
		Use:   "analyse DIR[@STEP] [DIR[@STEP]]",
		Short: "examine a saved run: F, dynamics error, projections; or compare two runs' generations",
		Long: `Loads a checkpoint of a run and prints its findings, as text in a terminal, elsewhere as
one JSON object per member with all points and histograms. The findings are: the
distribution of F over real and synthetic transitions; how far synthetic transitions are
from what the task would have done, beside a Gaussian fitted to the real ones; the F
that was asked for and the F that came out; how many synthetic transitions leave the
real range, and how near they are to real rows; synthetic rows with and without guidance in
one plane (PCA), with their overlap, which for two samples of 1,000 rows of one
distribution is 0.8 to 0.9; and what a model of the world or of the dynamics predicts
without observations. The run is not changed and may go on meanwhile.

For two runs, or one run at two steps, it prints their synthetic transitions in one
plane, with the overlap of the two. Latents (of pixels, or of PPO) are not comparable.

With --journal the findings also become lines of the run's journal. If a lab runs in the
folder, it is asked to examine itself as it is now: its training waits some seconds for
that, its screen does not. Such lines are not part of a canonical journal.

--out also draws the findings, as SVG and PNG, into a folder. --tsne adds t-SNE of at
most 1,000 rows of each kind, which takes half a minute.

With --refit it fits a generator of its own to the run's real transitions, with a part
of them held out and with the run's settings at that step, or others (--set). It prints
how good the generations are at each --guidance: a table, or one JSON object per run
folder. If there are several checkpoints, it refits one generator to all of them in turn,
as a run does.

With --what-if it shows whether the rows that D_syn is asked for help, and how much is
lost by how they are made. From the checkpoint it trains the agent with real rows only,
with unprioritized and with prioritized D_syn, and with the same states and actions but
the simulator's s', r and end. A table shows the TD error and the value error (against
Monte-Carlo returns) on real rows that nothing has seen, and the return of the resulting
policy; sentences below it say what differs by more than chance between repeats. --set
chooses another generator than the run's. The run's own is taken directly after a refit;
at other checkpoints all generators are fitted again, to the same transitions. It takes
minutes.

With --relevance-from it compares F with F as another run has learned it. The same run
at an earlier step is a reference that stays the same while the data changes. The
checkpoints of evaluation.keep_every, the last three and the best can be examined.`,
		Example: `  pgrlab analyse runs/a | jq .generated.dynamics
  pgrlab analyse runs/a --out pictures > analyses.json
  pgrlab analyse runs/a --journal
  pgrlab analyse runs/a@50000 runs/b@50000 --out pictures > together.json
  pgrlab analyse runs/a@15000 --refit --set generator_steps=20k --set generator.width=512
  pgrlab analyse runs/a@15000 --what-if
  pgrlab analyse runs/a --what-if --relevance curiosity,td --top-fraction 0.25,1 --seeds 5
  pgrlab analyse runs/a --relevance-from runs/b
  pgrlab analyse runs/a --relevance-from runs/a@10000 | jq .ruler.real`,
		Args: func(c *cobra.Command, args []string) error {
			if r.refits || r.whatIfs {
				return cli.RangeArgs(1, math.MaxInt, "one run folder or more")(c, args)
			}
			return cli.RangeArgs(1, 2, "one run folder, or two")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.modes(c.Flags()); err != nil {
				return err
			}
			if r.whatIfs {
				return r.whatIfAll(c.Context(), d, args, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
			}
			if r.refits {
				return r.refitAll(c.Context(), d, args, c.OutOrStdout(), c.ErrOrStderr())
			}
			return r.run(c.Context(), d, args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	cli.CountVar(f, &r.step, "step", -1, 0, "`N` step of the checkpoint, like DIR@N (default: the latest)")
	f.StringVar(&r.referenceF, "relevance-from", "", "`DIR[@STEP]` another run, to compare F with its F")
	f.BoolVar(&r.journal, "journal", false, "write the findings into the run's journal")
	cli.CountVar(f, &r.Rows, "rows", r.Rows, 3, "`N` real transitions to examine, and as many synthetic ones; with --refit 4096 unless it is given")
	cli.CountVar(f, &r.Points, "points", r.Points, 0, "`N` points of each kind in the projection; 0: none")
	f.BoolVar(&r.Embed, "tsne", false, "add t-SNE of at most 1,000 + 1,000 generations to the projection")
	r.refit.bind(f, &r.refits)
	r.whatIf.bind(f, &r.whatIfs)
	f.BoolVar(&r.json, "json", false, "print JSON in a terminal too")
	f.StringVar(&r.out, "out", "", "`DIR` write pictures, SVG and PNG, into this folder")
	cli.CountIn(f, &r.threads, "threads", 0, 1, cli.MaxThreads, cli.ThreadsUsage)
	f.DurationVar(&r.timeout, "timeout", r.timeout, "`TIME` how long to wait for a run in progress")
	return c
}

// modes refuses combinations of flags that make no sense.
func (r *analyseRequest) modes(f *pflag.FlagSet) error {
	if err := r.whatIf.flags(f, r.whatIfs); err != nil || r.whatIfs {
		return err
	}
	return r.refit.flags(f, r.refits, r.Rows)
}

func (r *analyseRequest) run(ctx context.Context, d cli.Deps, args []string, stdout, stderr io.Writer) error {
	if r.timeout <= 0 {
		return cli.Usagef("analyse: --timeout %v: want more than 0s", r.timeout)
	}
	if r.out != "" {
		if err := cli.Folder(r.out, "pictures"); err != nil {
			return fmt.Errorf("analyse: %w", err)
		}
	}
	all := make([]offline.Run, len(args))
	for i, arg := range args {
		var err error
		if all[i], err = r.saved(arg, "analyse"); err != nil {
			return err
		}
		if _, err := run.Changed(all[i].Dir); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", printable.Line(all[i].Dir), err)
		}
	}
	if len(all) == 2 {
		return r.together(d, [2]offline.Run(all), stdout, stderr)
	}
	if r.journal {
		if socket, err := remote.Find(all[0].Dir); err == nil {
			return r.live(ctx, all[0], socket, stdout, stderr)
		}
	}
	return r.analyse(d, all[0], stdout, stderr)
}

// analyse analyses a checkpoint.
func (r *analyseRequest) analyse(d cli.Deps, saved offline.Run, stdout, stderr io.Writer) error {
	task, err := d.TaskIn(saved.Dir, saved.Config.Task, saved.Config.Environment)
	if err != nil {
		return err
	}
	var reference *offline.Run
	if r.referenceF != "" {
		other, err := r.saved(r.referenceF, "analyse: --relevance-from")
		if err != nil {
			return err
		}
		reference = &other
	}
	device, err := d.Device(cli.DeviceRequest{Threads: r.threads})
	if err != nil {
		return fmt.Errorf("start device: %w", err)
	}
	defer device.Close()
	found, err := offline.Examine(saved, task, device, r.Examination, reference)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("pgrlab analyse (pid %d)", os.Getpid())
	for _, e := range found {
		if r.journal {
			e.Obs = &event.ExaminedObs{OnDemand: true, By: by}
		}
	}
	err = r.print(saved, found, stdout, stderr) // first: it took minutes to find
	if r.journal {
		if failed := offline.Record(saved.Dir, by, found); failed != nil {
			err = errors.Join(err, fmt.Errorf("analyse: %w", failed))
		}
	}
	return err
}

// live asks the lab that runs in the folder for an analysis, and reads what it wrote.
func (r *analyseRequest) live(ctx context.Context, s offline.Run, socket string, stdout, stderr io.Writer) error {
	if plain := inspect.DefaultExamination(); r.Examination != plain || r.referenceF != "" || s.Step >= 0 {
		return cli.Usagef("analyse: a lab runs in %s and looks at itself as it is: leave out @STEP, --step, --rows, --points, --tsne and --relevance-from, or --journal to look at a checkpoint", s.Dir)
	}
	ctx, stop := context.WithTimeout(ctx, r.timeout)
	defer stop()
	by := fmt.Sprintf("pgrlab analyse (pid %d)", os.Getpid())
	before, err := written(s, by) // by another process that had this number
	if err != nil {
		return err
	}
	said, err := remote.Ask(ctx, socket, s.Dir, "analyse", by)
	if err != nil {
		return fmt.Errorf("analyse %w", err)
	}
	fmt.Fprintln(stderr, said)
	// The lab's journal goes to disk in batches: its lines follow its answer.
	for {
		found, err := written(s, by)
		if err != nil {
			return err
		}
		if found = found[min(len(before), len(found)):]; len(found) >= s.Config.Members {
			return r.print(s, found, stdout, stderr)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("analyse %s: what the lab found is not in its journal after %v: see pgrlab attach %s", s.Dir, r.timeout, shell.Word(s.Dir))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// written are the findings in the journal that answer requests of by.
func written(s offline.Run, by string) ([]*event.Examined, error) {
	file, err := run.OpenFile(s.Dir, run.JournalName)
	if err != nil {
		return nil, fmt.Errorf("analyse %s: %w", s.Dir, err)
	}
	defer file.Close()
	found := make([]*event.Examined, 0, s.Config.Members)
	for lines := run.NewReader(file); ; {
		e, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("analyse %s: %w", s.Dir, err)
		}
		if line, known := event.Decode(e); known {
			if one, _ := event.Answers(line, by); one != nil {
				one.Step = e.Step
				found = append(found, one)
			}
		}
	}
}

// print writes the findings for each member and draws them.
func (r *analyseRequest) print(s offline.Run, found []*event.Examined, stdout, stderr io.Writer) error {
	write := func(e *event.Examined) error { return writeFindings(stdout, e) }
	if r.json || !terminal.IsTerminal(stdout) {
		out := json.NewEncoder(stdout)
		write = func(e *event.Examined) error {
			return out.Encode(struct {
				Step int `json:"step"`
				*event.Examined
			}{e.Step, e})
		}
	}
	for _, e := range found {
		fmt.Fprintf(stderr, "%s on %s at step %d\n", s.Config.Method, s.Config.Task, e.Step)
		if e.Mixed > 0 {
			fmt.Fprintf(stderr, "D_syn is mixed: %.0f %% of its rows are of a generation that was under way after a change\n", 100*e.Mixed)
		}
		if err := write(e); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	for i, e := range found {
		if r.out == "" {
			break
		}
		dir := r.out
		if len(found) > 1 {
			dir = filepath.Join(dir, fmt.Sprintf("member-%d", i))
		}
		title := fmt.Sprintf("%s on %s, step %d", s.Config.Method, s.Config.Task, e.Step)
		if err := drawPictures(dir, pictures(title, e), stderr); err != nil {
			return err
		}
	}
	return nil
}

// together projects the generations of two runs into one plane.
func (r *analyseRequest) together(d cli.Deps, runs [2]offline.Run, stdout, stderr io.Writer) error {
	if r.journal || r.referenceF != "" {
		return cli.Usagef("analyse: --journal and --relevance-from are about one run: leave them out, or give one run folder")
	}
	task, err := d.TaskIn(runs[0].Dir, runs[0].Config.Task, runs[0].Config.Environment)
	if err != nil {
		return err
	}
	device, err := d.Device(cli.DeviceRequest{Threads: r.threads})
	if err != nil {
		return fmt.Errorf("start device: %w", err)
	}
	defer device.Close()
	found, err := offline.Together(runs, task, device, r.Rows, r.Embed)
	if err != nil {
		return err
	}
	if err := r.printJoint(found, stdout, stderr); err != nil || r.out == "" {
		return err
	}
	return drawPictures(r.out, jointPictures(runs[0].Config.Task, found), stderr)
}

// printJoint writes what was found of two runs.
func (r *analyseRequest) printJoint(found *inspect.Joint, stdout, stderr io.Writer) error {
	for _, one := range found.Runs {
		fmt.Fprintf(stderr, "%d generations of %s, %s seed %d at step %d\n", len(one.Points), one.Dir, one.Method, one.Seed, one.Step)
	}
	if !r.json && terminal.IsTerminal(stdout) {
		_, err := fmt.Fprintf(stdout, "  they overlap by %.2f in a plane with %.0f %% of the variance (two samples of 1,000 rows of one distribution: 0.8 to 0.9)\n", found.Overlap, 100*(found.Explained[0]+found.Explained[1]))
		return err
	}
	return cli.WriteJSON(stdout, found)
}

// saved reads DIR or DIR@STEP; doing is for messages.
func (r *analyseRequest) saved(arg, doing string) (offline.Run, error) {
	dir, step, err := rundir.SplitStep(arg)
	if err != nil {
		return offline.Run{}, cli.Usagef("%s %s: %w", doing, arg, err)
	}
	if dir, err = rundir.Find(dir); err != nil {
		return offline.Run{}, fmt.Errorf("%s: %w", doing, err)
	}
	if step < 0 && doing == "analyse" {
		step = r.step
	}
	saved, err := rundir.Saved(dir, step)
	if err != nil {
		return saved, fmt.Errorf("%s: %w", doing, err)
	}
	return saved, nil
}
