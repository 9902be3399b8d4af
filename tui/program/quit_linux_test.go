package program

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/remote"
)

// SIGQUIT ends every command that takes long at once, with one line and a status of its own, and never
// with the stacks of goroutines. A run keeps what it had saved.
func TestSIGQUITEndsEveryLongCommandAtOnce(t *testing.T) {
	setUp(t)
	if err := os.WriteFile("tiny.toml", []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	writeKeys(t, "keys")
	lab, _ := speaking(t, "train", "--preset", "tiny.toml", "--steps", "10000000", "--threads", "1", "--out", "run")
	eventually(t, "the lab listens", func() bool { _, err := remote.Find("run"); return err == nil })
	saved, _ := speaking(t, "train", "--preset", "tiny.toml", "--steps", "130", "--threads", "1", "--out", "saved")
	if err := saved.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"attach", "--plain", "run"},
		{"serve", "--keys", "keys", "--ssh", "127.0.0.1:0", "run"},
		{"analyse", "saved", "--what-if"},
		{"replay", "run", "--plain", "--speed", "0.001"},
		{"sweep", "--preset", "tiny.toml", "--steps", "10000000", "--seeds", "1", "--jobs", "1", "--out", "sweep"},
	} {
		c, said := speaking(t, args...)
		quits(t, c, said, args)
	}
	c, said := speaking(t, "train", "--preset", "tiny.toml", "--steps", "10000000", "--threads", "1", "--out", "other")
	quits(t, c, said, []string{"train"})
	lab.Process.Signal(syscall.SIGTERM)
	lab.Wait()
}

// speaking starts a command, and returns when it has said something.
func speaking(t *testing.T, args ...string) (*exec.Cmd, *lockedBuffer) {
	t.Helper()
	c, _ := child(t, args...)
	said := &lockedBuffer{}
	c.Stdout, c.Stderr = said, said
	input, err := c.StdinPipe() // without an end
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { input.Close(); c.Process.Kill() })
	eventually(t, strings.Join(args, " ")+" says something", func() bool { return said.String() != "" })
	return c, said
}

func quits(t *testing.T, c *exec.Cmd, said *lockedBuffer, args []string) {
	t.Helper()
	c.Process.Signal(syscall.SIGQUIT)
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != cli.StatusQuit {
		t.Errorf("%q: %v\n%s", args, err, said.String())
	}
	if text := said.String(); !strings.Contains(text, "pgrlab: ended at once by SIGQUIT") || strings.Contains(text, "goroutine") {
		t.Errorf("%q said\n%s", args, text)
	}
}

// lockedBuffer is a buffer that can be read while a process writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
