package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"pgrlab/core/bench"
	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cuda"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/tui/command/cli"
)

// agreeing is the first argument of a process that tests a GPU for another process. It is not a
// command for people.
const agreeing = "gpu-agree"

// agreePatience is for each stage of a test: the compilation of one file of kernels takes seconds,
// or minutes on a slow host.
var agreePatience = patience{limit: 3 * time.Minute, quiet: 2 * time.Second, advice: "check nvidia-smi and dmesg"}

// probing is the first argument of a process that starts the driver for another process.
const probing = "gpu-probe"

// probePatience is for a driver that starts and lists its GPUs: seconds for each GPU that no process
// holds.
var probePatience = patience{limit: 2 * time.Minute, advice: "check nvidia-smi and dmesg, and start nvidia-persistenced if there are many GPUs"}

// probe starts the driver, as another process is about to, and asks it the same questions. It
// ignores errors that the driver reports: the other process will get them too.
func probe() (status int) {
	openGPUs(nil).Report()
	return cli.StatusDone
}

// probeGPUs starts the driver in a process of its own: a driver that hangs does so in the first
// call, which can then be neither interrupted nor killed.
func probeGPUs() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("try it: %w", err)
	}
	return tried(exec.Command(self, probing), probePatience, func(string) {})
}

// agree tests a GPU, given by its UUID, in a precision. If the driver crashes or hangs, only this
// process is affected. Its stages are lines on stdout.
func agree(args []string, stdout, stderr io.Writer) (status int) {
	err := errors.New("want the UUID of a GPU and a precision")
	if len(args) == 2 {
		err = agrees(args[0], args[1], func(stage string) { fmt.Fprintln(stdout, stage) })
	}
	if err != nil {
		fmt.Fprintln(stderr, strings.ReplaceAll(err.Error(), "\n", " "))
		return cli.StatusFailed
	}
	return cli.StatusDone
}

// agrees makes a GPU and the CPU do the same work and compares the results. begin gets the stages
// that take a while.
func agrees(uuid, precision string, begin func(stage string)) (err error) {
	rounded, err := kernel.ParsePrecision(precision)
	if err != nil {
		return err
	}
	reference, err := cpu.New(cpu.Options{})
	if err != nil {
		return err
	}
	defer reference.Close()
	machine := openGPUs(nil)
	begin("opening " + uuid)
	d, err := cuda.New(func() (driver.Context, error) { return machine.Open(uuid) }, cuda.Options{Precision: rounded, Said: begin})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return bench.Agree(d, reference)
}

// checkGPU tests a GPU in a process of its own before a run is given to it: a run that could have
// used the CPU must not learn from wrong numbers, nor die with a driver.
func checkGPU(g cli.GPU, precision string, said func(line string)) error {
	return tried(cli.Self(agreeing, g.UUID, precision), agreePatience, said)
}

// tried runs a process whose status says whether a GPU is right, whose stderr says in a line what is
// wrong, and whose stdout has a line for each stage.
func tried(c *exec.Cmd, p patience, said func(line string)) error {
	wrong, begun := &words{}, &stages{news: make(chan string, 1)}
	c.Stdout, c.Stderr = begun, wrong
	if err := c.Start(); err != nil {
		return fmt.Errorf("try it: %w", err)
	}
	ended := make(chan error, 1) // not read after a timeout: a process within a broken driver does not end when it is killed
	go func() { ended <- c.Wait() }()
	err := begun.await(ended, p, said)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.Process.Kill()
		return err
	}
	return wrong.verdict(err)
}

// patience is for a process that tries a GPU.
type patience struct {
	limit  time.Duration // of a stage
	quiet  time.Duration // a stage that takes longer is reported
	advice string        // about one that takes longer than the limit
}

// stages are the lines that a process writes. Of lines that are not read yet, only the last
// counts.
type stages struct {
	line []byte // the beginning of the one that is not complete
	news chan string
}

func (s *stages) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, complete := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, part[:min(len(part), 4096-len(s.line))]...)
		if complete {
			select {
			case <-s.news:
			default:
			}
			s.news <- string(s.line)
			s.line = s.line[:0]
		}
		rest = after
	}
	return len(p), nil
}

// await waits for the end of a process and returns what ended it, or an overdue if a stage exceeds
// the limit.
func (s *stages) await(ended <-chan error, p patience, said func(line string)) error {
	stage, limit := "", time.After(p.limit)
	var quiet <-chan time.Time // of a stage that was not reported
	for {
		select {
		case err := <-ended:
			return err
		case stage = <-s.news:
			limit, quiet = time.After(p.limit), time.After(p.quiet)
		case <-quiet:
			said(stage)
		case <-limit:
			return overdue{stage, p}
		}
	}
}

// overdue is an os.ErrDeadlineExceeded: nothing is known about the GPU.
type overdue struct {
	stage string
	patience
}

func (o overdue) Unwrap() error { return os.ErrDeadlineExceeded }

func (o overdue) Error() string {
	text := fmt.Sprintf("it did not answer within %v", o.limit)
	if o.stage != "" {
		text += " of " + o.stage
	}
	return text + ": " + o.advice
}

// words keeps the beginning of a process's output and drops the rest.
type words struct{ bytes.Buffer }

func (w *words) Write(p []byte) (int, error) {
	w.Buffer.Write(p[:min(len(p), max(0, 4096-w.Len()))])
	return len(p), nil
}

// verdict is the finding of a process that ended with err.
func (w *words) verdict(err error) error {
	first, _, _ := strings.Cut(strings.TrimSpace(w.String()), "\n")
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == cli.StatusFailed && first != "":
		return errors.New(first)
	case first != "":
		return fmt.Errorf("trying it crashed, %w: %s", err, first)
	}
	return fmt.Errorf("trying it crashed: %w", err)
}
