package program

import (
	"bytes"
	"context"
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
	"pgrlab/tui/command/cli"
)

// agreeing is the first argument of a process that tests a GPU for another process. It is not a
// command for people.
const agreeing = "gpu-agree"

// agreePatience is how long a GPU may take, including the compilation of its kernels.
const agreePatience = 30 * time.Second

// probing is the first argument of a process that starts the driver for another process.
const probing = "gpu-probe"

// probePatience is how long a driver may take to start and to list its GPUs.
const probePatience = 20 * time.Second

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
	return tried(exec.Command(self, probing), probePatience)
}

// agree tests a GPU, given by its UUID, in a precision. If the driver crashes or hangs, only this
// process is affected.
func agree(args []string, stderr io.Writer) (status int) {
	err := errors.New("want the UUID of a GPU and a precision")
	if len(args) == 2 {
		err = agrees(args[0], args[1])
	}
	if err != nil {
		fmt.Fprintln(stderr, strings.ReplaceAll(err.Error(), "\n", " "))
		return cli.StatusFailed
	}
	return cli.StatusDone
}

// agrees makes a GPU and the CPU do the same work and compares the results.
func agrees(uuid, precision string) (err error) {
	rounded, known := precisions[precision]
	if !known {
		return fmt.Errorf("precision %s is not known", precision)
	}
	reference, err := cpu.New(cpu.Options{})
	if err != nil {
		return err
	}
	defer reference.Close()
	machine := openGPUs(nil)
	d, err := cuda.New(func() (driver.Context, error) { return machine.Open(uuid) }, cuda.Options{Precision: rounded})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return bench.Agree(d, reference)
}

// checkGPU tests a GPU in a process of its own before a run is given to it: a run that could have
// used the CPU must not learn from wrong numbers, nor die with a driver.
func checkGPU(g cli.GPU, precision string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("try it: %w", err)
	}
	return tried(exec.Command(self, agreeing, g.UUID, precision), agreePatience)
}

// tried runs a process whose status says whether a GPU is right, and whose output says in a line
// what is wrong.
func tried(c *exec.Cmd, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	said := &words{}
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		return fmt.Errorf("try it: %w", err)
	}
	ended := make(chan error, 1) // not read after a timeout: a process within a broken driver does not end when it is killed
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return said.verdict(err)
	case <-ctx.Done():
		c.Process.Kill()
		return fmt.Errorf("it did not answer within %v: check nvidia-smi and dmesg", patience)
	}
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
