package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A job of the cluster starts the program of its task, which the person who submitted it has typed, and reads a task
// file from the copy in the sweep's folder. Both have the journals of runs on this machine.
func TestTasksOfOnesOwnOnSlurm(t *testing.T) {
	startSlurm(t)
	_, _, _, of := ownEnvironments(t)
	t.Setenv(childVariable, "1") // the script's program is this test acting as the program
	writeBall(t)
	for name, task := range map[string][]string{"program": {"--env", of("walk")}, "file": {"--task", "ball.toml"}} {
		sweep := append([]string{"sweep", "--preset", "tiny.toml", "--seeds", "1,2", "--steps", "90", "--threads", "1"}, task...)
		for _, where := range [][]string{{"--out", name}, {"--out", name + "-there", "--on", "slurm"}} {
			if out, err := onCluster(t, append(sweep, where...)...); err != nil || !strings.Contains(out, "2 of 2 done") {
				t.Fatalf("%s: %v: %s", where, err, out)
			}
		}
		jobs, err := os.ReadDir(name)
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, job := range jobs {
			if here := filepath.Join(name, job.Name(), "run"); exists(here) {
				compared++
				if canonical(t, here) != canonical(t, filepath.Join(name+"-there", job.Name(), "run")) {
					t.Errorf("%s: another journal", job.Name())
				}
			}
		}
		if compared != 2 {
			t.Errorf("%s: %d runs compared", name, compared)
		}
	}
}
