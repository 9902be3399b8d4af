package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/printable"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/sweep/slurm"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/remote"
)

// whichRun is the help of an argument that names a run in progress as a whole.
const whichRun = `Without RUN the command takes the only run in progress. If there are several, it asks which on
a terminal, and lists them elsewhere. RUN is a folder, the name of one in its path, a
process ID as pgrlab ps prints it, or latest: of all runs in progress on this machine the one
that was started last. (For commands that read saved runs latest is another one: the run below
$PGRLAB_RUNS or ./runs that was written last.)
If RUN is only a part of a name, it asks on a terminal and does nothing elsewhere.`

// runningLab finds the lab that a command is about, and how to connect to it. Its errors are
// complete, with the command's name at the beginning.
func runningLab(ctx context.Context, c *cobra.Command, args []string) (dir string, dial remote.Dial, err error) {
	dir, err = labFolder(ctx, c, args)
	if err != nil {
		return "", nil, err
	}
	if _, err = remote.Find(dir); err == nil {
		return dir, remote.InFolder(dir), nil
	}
	err = unreachable(dir, err)
	if far := (remote.Elsewhere{}); errors.As(err, &far) && far.Job != "" {
		return dir, byStep(far), nil
	}
	return "", nil, fmt.Errorf("%s %w", c.Name(), err)
}

// unreachable says why a lab cannot be connected to: err of remote.Find, or that its run has made all
// its steps, unless it is about to make more.
func unreachable(dir string, err error) error {
	if errors.As(err, new(remote.Between)) {
		return err
	}
	return cmp.Or(over(dir), err)
}

// byStep connects to a lab in a Slurm job by a step of that job, which shares the job's resources:
// nothing listens, and the step ends with the connection.
func byStep(far remote.Elsewhere) remote.Dial {
	step := slurm.Step(far.Job, far.Node, cli.Self().Path, "attach", "--stream", rundir.Absolute(far.Dir))
	return remote.Through(far.Dir, step[0], step[1:]...)
}

// labFolder is the folder of the lab that a command is about.
func labFolder(ctx context.Context, c *cobra.Command, args []string) (string, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	if name != "" && rundir.Exists(filepath.Join(name, run.ConfigName)) {
		return name, nil
	}
	short, stop := context.WithTimeout(ctx, psPatience) // a stopped lab does not answer
	defer stop()
	all := remote.List(short)
	return labNamed(ctx, c, all, name)
}

// labNamed is the folder of the lab among all that a name means. If several are meant, or the name is only
// a part of theirs, it asks or lists them: the person may have others in mind.
func labNamed(ctx context.Context, c *cobra.Command, all []remote.Status, name string) (string, error) {
	found := named(all, name)
	if len(found) == 1 {
		return labOf(c, found[0])
	}
	question, why := "pgrlab "+c.Name()+" which?", fmt.Sprintf("%d labs have that in their names", len(found))
	if len(found) == 0 {
		found, why = matching(all, name), "no lab is called that, only a part of a name is"
		question = fmt.Sprintf("pgrlab %s %s: which of these?", c.Name(), printable.Line(name))
		if len(found) == 1 {
			question = fmt.Sprintf("pgrlab %s %s: this one?", c.Name(), printable.Line(name))
		}
	}
	switch {
	case len(found) == 0 && name != "" && name != rundir.Latest:
		return "", notRunning(c, name, all)
	case len(found) == 0:
		return "", noLab(c)
	}
	if in, out, ok := terminals(c); ok {
		s, err := chooseLab(ctx, question, found, in, out)
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.Name(), err)
		}
		return labOf(c, s)
	}
	offerLines(c.ErrOrStderr(), c.Name(), found)
	if name == "" {
		return "", cli.Usagef("%s: %d runs are in progress: say which, as in the lines above", c.Name(), len(found))
	}
	return "", cli.Usagef("%s %s: %s: say which, as in the lines above", c.Name(), name, why)
}

// exactly is the folder of the one lab that a name means as a whole, and of no other: a person who names a
// run for other people to see means that one.
func exactly(c *cobra.Command, all []remote.Status, name string) (string, error) {
	if rundir.Exists(filepath.Join(name, run.ConfigName)) {
		return served(c, all, name)
	}
	found, why := named(all, name), "more than one run is meant"
	if len(found) == 0 {
		found, why = matching(all, name), "no run is called that, only a part of a name is"
	} else if len(found) == 1 {
		if _, err := labOf(c, found[0]); err != nil {
			return "", err
		}
		return found[0].Dir, nil
	}
	if len(found) == 0 {
		return "", notRunning(c, name, all)
	}
	rows := LabRows(found)
	for i, s := range found {
		fmt.Fprintf(c.ErrOrStderr(), "%-8d %s\n", s.PID, rows[i])
	}
	return "", cli.Usagef("%s %s: %s: give a process or a folder of the lines above", c.Name(), name, why)
}

// served is the folder of the lab in a run folder, as the lab itself calls it.
func served(c *cobra.Command, all []remote.Status, dir string) (string, error) {
	is, err := os.Stat(dir)
	if err == nil {
		for _, s := range all {
			if other, err := os.Stat(s.Dir); err == nil && filepath.IsAbs(s.Dir) && os.SameFile(is, other) {
				return s.Dir, nil
			}
		}
		_, err = remote.Find(dir)
	}
	if err == nil {
		err = remote.Between{Dir: dir} // it listens only since then
	}
	return "", fmt.Errorf("%s %w", c.Name(), unreachable(dir, err))
}

// noLab says that no lab runs; the newest run may only not listen yet.
func noLab(c *cobra.Command) error {
	if dir, err := run.Latest(rundir.Root()); err == nil && run.IsHeld(dir) {
		return fmt.Errorf("%s %w", c.Name(), remote.Between{Dir: dir})
	}
	return fmt.Errorf("%s: no lab of yours runs on this machine: pgrlab train begins one", c.Name())
}

// terminals are the keyboard and screen on which a command can ask, if there are any.
func terminals(c *cobra.Command) (in, out *os.File, ok bool) {
	if !terminal.IsTerminal(c.InOrStdin()) || !terminal.IsTerminal(c.ErrOrStderr()) || os.Getenv("TERM") == "dumb" {
		return nil, nil, false
	}
	return c.InOrStdin().(*os.File), cli.Raw(c.ErrOrStderr()).(*os.File), true
}

// labOf is the folder of a lab that was found.
func labOf(c *cobra.Command, s remote.Status) (string, error) {
	if !filepath.IsAbs(s.Dir) {
		return "", fmt.Errorf("%s %d: its lab does not answer: it may be stopped by ctrl-z (fg in its shell lets it go on)", c.Name(), s.PID)
	}
	return rundir.Near(s.Dir), nil
}

// matching are the labs that a name means as a whole. If there are none, they are those that have it
// in the run's name or else in the path; a number is no part of a name: it is likelier a process
// that has ended.
func matching(all []remote.Status, name string) []remote.Status {
	found := named(all, name)
	if _, err := strconv.Atoi(name); len(found) > 0 || err == nil {
		return found
	}
	lower := strings.ToLower(strings.Trim(name, string(filepath.Separator)))
	return firstOf(all,
		func(s remote.Status) bool { return strings.Contains(strings.ToLower(filepath.Base(s.Dir)), lower) },
		func(s remote.Status) bool { return strings.Contains(strings.ToLower(rundir.Near(s.Dir)), lower) },
	)
}

// named are the labs that a name means as a whole: all labs without a name, else those of the first
// of these meanings that fits any lab: latest, the process, a folder and its contents. If there is no
// such folder here, it means those with these whole elements in their path.
func named(all []remote.Status, name string) []remote.Status {
	if name == "" {
		return all
	}
	if name == rundir.Latest {
		if len(all) == 0 {
			return nil
		}
		return []remote.Status{slices.MaxFunc(all, func(a, b remote.Status) int { return a.Started.Compare(b.Started) })}
	}
	const end = string(filepath.Separator)
	within := strings.TrimRight(rundir.Absolute(name), end) + end
	elements := end + strings.ToLower(strings.Trim(name, end)) + end
	return firstOf(all,
		func(s remote.Status) bool { return strconv.Itoa(s.PID) == name },
		func(s remote.Status) bool {
			if rundir.Exists(name) {
				return strings.HasPrefix(s.Dir+end, within)
			}
			return strings.Contains(end+strings.ToLower(s.Dir)+end, elements)
		},
	)
}

// firstOf are the labs of the first meaning that fits any lab.
func firstOf(all []remote.Status, meanings ...func(remote.Status) bool) []remote.Status {
	for _, means := range meanings {
		var found []remote.Status
		for _, s := range all {
			if means(s) {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// notRunning says that a name matches no running lab; it may match one that has ended.
func notRunning(c *cobra.Command, name string, all []remote.Status) error {
	if _, err := strconv.Atoi(name); err == nil {
		return cli.Usagef("%s: no lab of yours has process %s: pgrlab ps lists them", c.Name(), name)
	}
	var runs []string
	if !rundir.Exists(name) {
		for _, dir := range rundir.All() {
			if strings.Contains(strings.ToLower(dir), strings.ToLower(name)) {
				runs = append(runs, dir)
			}
		}
	}
	if len(runs) == 1 {
		if _, err := remote.Find(runs[0]); err != nil {
			return fmt.Errorf("%s %w", c.Name(), unreachable(runs[0], err))
		}
		return fmt.Errorf("%s %w", c.Name(), remote.Between{Dir: runs[0]}) // it listens only since then
	}
	if len(all) == 0 {
		return cli.Usagef("%s %s: no such run, and no lab of yours runs on this machine", c.Name(), name)
	}
	return cli.Usagef("%s %s: no such run: pgrlab ps lists those that run", c.Name(), name)
}

// over says that a run has made all its steps; nil: it has not, as far as is known.
func over(dir string) error {
	file := filepath.Join(dir, run.ConfigName)
	doc, err := run.ReadFile(dir, run.ConfigName)
	if err != nil {
		return nil
	}
	c, err := presets.Decode(file, doc)
	if err != nil || !rundir.Complete(dir, c.Steps) {
		return nil
	}
	return fmt.Errorf("%s: it has made all its %s steps and does not run: pgrlab replay %s shows it, pgrlab train --resume %s --steps N makes more", dir, report.Count(c.Steps), shell.Word(dir), shell.Word(dir))
}

// offerLines writes the commands to type, one for each lab.
func offerLines(w io.Writer, verb string, all []remote.Status) {
	rows := LabRows(all)
	for i, s := range all {
		fmt.Fprintf(w, "pgrlab %s %-8d %s\n", verb, s.PID, rows[i])
	}
}

// errNoChoice ends a command if the person chose nothing.
var errNoChoice = errors.New("nothing was chosen")
