package sweep

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/machine"
)

// register gives an engine a name among the engines of its sweep, under which others see its
// progress; end returns the name, and records how the work ended.
func (f *sweepFlags) register(e *sweep.Engine) (end func(error), err error) {
	name := f.worker
	if name == "" {
		host, _ := os.Hostname()
		name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	r, err := e.Grid.Register(sweep.Worker{Name: name, Jobs: e.Workers, Element: f.element})
	if errors.Is(err, sweep.ErrElsewhere) {
		return nil, elsewhere{"worker " + name}
	}
	if err != nil {
		return nil, fmt.Errorf("sweep %s: %w", f.out, err)
	}
	r.Keep(e)
	return func(err error) {
		if f.worker == "" {
			r.Leave() // its caller sees how it ended
			return
		}
		how := "done"
		if err != nil {
			how = cli.Line(err)
		}
		r.End(e.States(), how)
	}, nil
}

// atWork is what a worker prints once it has its name.
const atWork = "at work"

// workerFlags say what one call of sweep worker does.
type workerFlags struct {
	sweepFlags
	look        string
	detach, end bool
}

func workerCommand() *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:   "worker DIR --name NAME",
		Short: "do jobs of a sweep under a name; --on ssh starts this on each host",
		Long: `Does the missing jobs of the sweep in DIR, beside all other workers of the sweep. Its
progress is in workers/NAME there. Status 75 means that a worker of that name is already
at work. --look, --end and --detach are for sweep --on ssh, which calls this on the
hosts.`,
		Example: `  pgrlab sweep worker sweeps/a --name box2 --jobs 4`,
		Args:    cli.ExactArgs(1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			f.out = args[0]
			if f.look != "" {
				return look(c.OutOrStdout(), f.out, f.look)
			}
			if f.jobsOn != "" {
				if err := machine.DeviceFlag(f.jobsOn); err != nil {
					return cli.AsUsage(err)
				}
			}
			g, err := sweep.Open(f.out)
			if err != nil {
				return cli.AsUsage(err)
			}
			if !printableName(f.worker) {
				return cli.Usagef("sweep worker: give it a name: --name NAME")
			}
			switch {
			case f.end:
				return f.endWorker(c.OutOrStdout(), g)
			case f.detach:
				return f.start(c.Context(), g)
			}
			return f.run(c.Context(), g, c.ErrOrStderr(), func(func(string)) { fmt.Fprintln(c.OutOrStdout(), atWork) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.worker, "name", "", "`NAME` of the worker")
	cli.CountVar(flags, &f.jobs, "jobs", 0, 1, "`N` most runs at a time (default: as many as there are processors)")
	cli.CountIn(flags, &f.threads, "threads", 1, 1, cli.MaxThreads, "`N` threads of each run; the results stay the same")
	flags.StringVar(&f.disk, "disk", "", "`SIZE` most disk space for the checkpoints of each run, such as 5GiB")
	flags.StringVar(&f.jobsOn, "device", "", cli.DeviceUsage+" (default: where the grid says)")
	flags.StringVar(&f.look, "look", "", "`TOKEN` print what this machine sees of a token file, and which build of the program it has")
	flags.BoolVar(&f.end, "end", false, "make the worker of that name on this machine save its jobs and end")
	flags.BoolVar(&f.detach, "detach", false, "start the worker as a process of its own, and return when it is at work")
	return c
}

// printableName says whether a name can be the name of a folder.
func printableName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\x00\n")
}

// looked is what a host reports before it gets work.
type looked struct {
	sweep.Seen
	Build string `json:"build"` // SHA-256 of the program
}

func look(w io.Writer, dir, token string) error {
	seen, err := sweep.See(dir, token)
	if err != nil {
		return cli.AsUsage(err)
	}
	build, err := buildSum()
	if err != nil {
		return err
	}
	return cli.WriteJSON(w, looked{seen, build})
}

// buildSum identifies this build of the program.
func buildSum() (string, error) {
	file, err := os.Open(cli.Self().Path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// signalled is printed when a worker was made to end; nothing is printed if it is gone.
const signalled = "signalled"

// endWorker makes the worker of that name save its jobs and end.
func (f *workerFlags) endWorker(w io.Writer, g *sweep.Grid) error {
	err := g.EndWorker(f.worker)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	if err == nil {
		fmt.Fprintln(w, signalled)
	}
	return err
}

// start starts the worker in a session of its own, so that it outlives the connection over which it
// was requested.
func (f *workerFlags) start(ctx context.Context, g *sweep.Grid) error {
	if g.IsAtWork(f.worker) {
		return elsewhere{"worker " + f.worker}
	}
	c := cli.Self(append([]string{"sweep", "worker", g.Path()}, f.words()...)...)
	log, err := g.WorkerLog(f.worker)
	if err != nil {
		return err
	}
	defer log.Close()
	c.Stderr = log
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if strings.TrimSpace(line) == atWork {
		return nil
	}
	err = c.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == cli.StatusElsewhere {
		return elsewhere{"worker " + f.worker}
	}
	return fmt.Errorf("worker %s did not begin: %v: see %s", f.worker, err, log.Name())
}

// words are the flags of the worker itself.
func (f *workerFlags) words() []string {
	all := []string{"--name", f.worker, "--threads", strconv.Itoa(f.threads)}
	if f.jobs > 0 {
		all = append(all, "--jobs", strconv.Itoa(f.jobs))
	}
	if f.disk != "" {
		all = append(all, "--disk", f.disk)
	}
	if f.jobsOn != "" {
		all = append(all, "--device", f.jobsOn)
	}
	return all
}
