package sweep

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pgrlab/core/sweep"
)

// Jobs that begin after the program's file was removed, or replaced by another build, are done by
// the program that runs.
func TestJobsAreDoneByTheRunningProgram(t *testing.T) {
	const child = "PGRLAB_TEST_REMOVED"
	if os.Getenv(child) != "" {
		path, err := os.Executable()
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		f := sweepFlags{threads: 1}
		if _, err := os.Stat(f.process(made(t), sweep.Job{}, "").Path); err != nil {
			t.Error(err)
		}
		return
	}
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(t.TempDir(), "program"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	to.Close()
	c := exec.Command(to.Name(), "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), child+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
