package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/policy"
	"pgrlab/core/task"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/terminal"
)

// watchFlags say what to watch and how.
type watchFlags struct {
	task     string
	policy   string
	shows    string
	tv       string
	seed     uint64
	fps      int
	episodes int
	frames   string
	pictures string
	size     string
	command  string       // simulates the task
	outside  task.Outside // how a program is started
	programs []string     // the flags that say so
	changed  func(flag string) bool
}

// Command is watch.
func Command(d cli.Deps) *cobra.Command {
	w := watchFlags{fps: 25, size: "320x240"}
	c := &cobra.Command{
		Use:   "watch [--task T] [--policy PATH]",
		Short: "show the agent of a task, with random or learned actions",
		Long: `Shows a task in the terminal, in real time: drawn by pgrlab itself, much as MuJoCo would, or a maze as the
agent sees it, with the map beside it. It draws pixels if the terminal answers that it
shows them (kitty's graphics protocol, sixel). Otherwise it draws half blocks in as many
colours as the terminal has, or, without colours or UTF-8, ASCII characters by
brightness.

The actions are random, or those of a policy that a run has saved: its policy.bin, its
folder, or latest for the run that was written last below $PGRLAB_RUNS or ./runs. While
a run goes on, its folder stands for the policy in its newest checkpoint (pgrlab
checkpoint saves one at once), and the folder of a cohort for its first member. The task
is then the run's own, unless --task names another one of the same sizes.

An environment of another program (--task gym:ID, --env COMMAND) is drawn by that program,
if it can: render() of its environment, 25 steps in a second.

Keys: space pauses, . makes one step, n begins the next episode, q leaves.

A policy that acts on pixels gets pixels. With --observation pixels the picture shows
what such a policy acts on: its newest frames, the oldest first.

With --frames the pictures go to numbered PNG files, and no terminal is needed.`,
		Example: `  pgrlab watch --task cheetah-run
  pgrlab watch --task maze-sparse --tv noise
  pgrlab watch --policy latest
  pgrlab watch --policy runs/a/policy.bin --seed 3 --frames /tmp/a --size 640x480
  pgrlab watch --policy runs/a --observation pixels --frames /tmp/a --size 252x84`,
		Args: d.BareNames,
		RunE: func(c *cobra.Command, _ []string) error {
			return w.run(c.Context(), d, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&w.task, "task", "", "`T` task (pgrlab list tasks)")
	f.StringVar(&w.command, "env", "", "`COMMAND` program that simulates the task, in quotes: 'python3 my_env.py'")
	f.StringVar(&w.policy, "policy", "", "`PATH` policy that chooses the actions: policy.bin, a run folder, or latest (default: random actions)")
	f.StringVar(&w.shows, "observation", "", "`pixels` show what a policy that acts on pixels sees (default: the scene)")
	f.StringVar(&w.tv, "tv", "", cli.TVUsageOfPolicies)
	f.Uint64Var(&w.seed, "seed", 0, "`N` seed of the start states and of random actions (default 0)")
	cli.CountIn(f, &w.fps, "fps", w.fps, 1, maxFPS, "`N` pictures per second, at most 60; time passes as in the task")
	cli.CountVar(f, &w.episodes, "episodes", 0, 1, "`N` episodes to show (default: until you leave; 1 with --frames)")
	f.StringVar(&w.frames, "frames", "", "`DIR` write the pictures as PNG files into this folder")
	f.StringVar(&w.pictures, "pictures", "", "`HOW` how to draw pictures: auto, kitty, sixel or blocks (default: as the settings say)")
	f.StringVar(&w.size, "size", w.size, "`WxH` size of the pictures in files, in pixels")
	w.programs, w.changed = cli.BindOutside(f, &w.outside), f.Changed
	cli.SetGroup(f, cli.OfPrograms, w.programs...)
	return c
}

// maxFPS is the limit of the screen's own timer.
const maxFPS = 60

func (w *watchFlags) run(ctx context.Context, d cli.Deps, in io.Reader, out, errs io.Writer) error {
	width, height, err := w.check()
	if err != nil {
		return err
	}
	onScreen := w.frames == ""
	if onScreen && (!terminal.IsTerminal(in) || !terminal.IsTerminal(out)) {
		return cli.Usagef("watch: needs a terminal: ssh -t, or --frames DIR for files")
	}
	p, err := w.open(d)
	if err != nil {
		return err
	}
	if onScreen {
		err = p.onScreen(ctx, in.(*os.File), cli.Raw(out).(*os.File), w.drawnWith(), w.fps, w.episodes)
	} else {
		err = p.toFiles(ctx, w.frames, width, height, w.fps, max(w.episodes, 1))
	}
	if err := errors.Join(err, p.close()); err != nil {
		return fmt.Errorf("watch %s: %w", p.task.Name, err)
	}
	fmt.Fprintln(errs, p.summary())
	return nil
}

// drawnWith is how to draw pictures on the screen: as --pictures says, or the settings; unreadable
// settings count as the defaults.
func (w *watchFlags) drawnWith() string {
	if w.pictures != "" {
		return w.pictures
	}
	s, _ := tui.LoadSettings(tui.Home())
	return s.Pictures
}

// check finds errors in the flags alone.
func (w *watchFlags) check() (width, height int, err error) {
	const maxSide = 4096
	ws, hs, _ := strings.Cut(w.size, "x")
	width, err = strconv.Atoi(ws)
	height, err2 := strconv.Atoi(hs)
	if err != nil || err2 != nil || min(width, height) < 1 || max(width, height) > maxSide {
		return 0, 0, cli.Usagef("watch: --size is %q: want WxH pixels, for example 320x240, at most %dx%d", w.size, maxSide, maxSide)
	}
	switch {
	case w.pictures != "" && !slices.Contains(tui.PictureChoices, w.pictures):
		return 0, 0, cli.Usagef("watch: --pictures is %q: want one of %s", w.pictures, strings.Join(tui.PictureChoices, ", "))
	case w.shows != "" && w.shows != task.ObservationPixels:
		return 0, 0, cli.Usagef("watch: --observation is %q: want %q, or leave it out for the scene", w.shows, task.ObservationPixels)
	case w.shows != "" && w.policy == "":
		return 0, 0, cli.Usagef("watch: --observation %s shows what a policy sees: give a --policy", w.shows)
	case w.task != "" && w.command != "":
		return 0, 0, cli.Usagef("watch: --task and --env name two tasks: leave one of them out")
	case w.task == "" && w.command == "" && w.policy == "":
		return 0, 0, cli.Usagef("watch: no task: say which with --task (pgrlab list tasks), or give a --policy")
	case w.frames != "":
		if err := cli.Folder(w.frames, "pictures, one PNG file for each,"); err != nil {
			return 0, 0, fmt.Errorf("watch: --frames: %w", err)
		}
	}
	return width, height, nil
}

// simulated is the task of a program whose name was typed.
func (w *watchFlags) simulated(d cli.Deps, name string) (task.Task, error) {
	w.outside.Pictures = true
	p, err := d.Typed(name, w.outside)
	if err == nil {
		_, err = p.Meet()
	}
	if err != nil {
		return task.Task{}, err
	}
	return p.Task(), nil
}

// open makes the task, its actions and its pictures. The user can fix an error in a name or path.
func (w *watchFlags) open(d cli.Deps) (*player, error) {
	var saved *savedPolicy
	name := w.task
	if w.policy != "" {
		var err error
		if saved, err = findPolicy(w.policy); err != nil {
			return nil, cli.AsUsage(err)
		}
	}
	var t task.Task
	var err error
	if w.command != "" {
		name = d.Programs.NameOf(w.command)
	}
	if !d.Simulates(name) {
		if i := slices.IndexFunc(w.programs, w.changed); i >= 0 {
			return nil, cli.Usagef("watch: --%s is for a program named with --task gym:ID or --env: leave it out, or name one", w.programs[i])
		}
	}
	if name == "" { // there is a policy
		e := saved.config.Environment
		e.Outside.Pictures = true
		t, err = d.TaskIn(saved.dir, saved.config.Task, e)
	} else if d.Simulates(name) {
		t, err = w.simulated(d, name)
	} else {
		t, err = d.Task(name)
	}
	if err != nil {
		return nil, err
	}
	shown := task.Environment{TV: w.tv}
	if saved != nil && w.tv == "" && saved.config.Task == t.Name {
		shown.TV = saved.config.Played().TV
	}
	if t, err = t.Played(shown); err != nil {
		return nil, cli.AsUsage(fmt.Errorf("watch: %w", err))
	}
	p := &player{task: t, by: "random actions", policy: policy.Random(t, w.seed), shows: w.shows}
	if err := p.build(d, saved, w.seed); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}
