package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"pgrlab/core/device/cpu"
	"pgrlab/core/task"
	"pgrlab/core/testing/cputest"
)

// Every workload prepares and steps, and reports a time and a rate.
func TestWorkloadsRun(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	for _, w := range Workloads {
		if w.Large && !strings.HasSuffix(w.Name, "-demo") {
			continue // this takes minutes
		}
		if large := w.Name == "mbpo-rollout" || strings.Contains(w.Name, "1024") || strings.Contains(w.Name, "2048") || strings.Contains(w.Name, "512"); large && os.Getenv("PGRLAB_SOAK") == "" {
			continue // this takes tens of seconds on a busy machine
		}
		r, err := Run(context.Background(), w, dev, 1, Options{Rounds: 1, Round: time.Microsecond})
		if err != nil {
			t.Errorf("%s: %v", w.Name, err)
			continue
		}
		if r.Workload != w.Name || r.MS <= 0 || r.BestMS > r.MS {
			t.Errorf("%s: result %+v", w.Name, r)
		}
	}
	if _, ok := Find(Workloads, "critic"); !ok {
		t.Error("critic cannot be found")
	}
	if _, ok := Find(Workloads, "no such thing"); ok {
		t.Error("something was found that is not there")
	}
}

// oneStep is an environment of one number whose episodes are three steps long.
type oneStep struct{ resets, steps int }

func (e *oneStep) ObsSize() int                  { return 1 }
func (e *oneStep) ActSize() int                  { return 1 }
func (e *oneStep) Save(io.Writer) error          { return nil }
func (e *oneStep) Load(io.Reader) error          { return nil }
func (e *oneStep) Close() error                  { return nil }
func (e *oneStep) Reset(uint64, []float32) error { e.resets++; return nil }
func (e *oneStep) Step(action, _ []float32) (float64, bool, bool, error) {
	if action[0] < -1 || action[0] >= 1 {
		return 0, false, false, fmt.Errorf("action %v", action)
	}
	e.steps++
	return 0, false, e.steps%3 == 0, nil
}

func TestEnvironment(t *testing.T) {
	e := &oneStep{}
	w := Environment(task.Task{Name: "world", New: func(uint64) (task.Env, error) { return e, nil }})
	step, _, err := w.Make(nil)
	if err != nil || w.Name != "env" {
		t.Fatal(w.Name, err)
	}
	for i := range uint64(7) {
		if err := step(i); err != nil {
			t.Fatal(err)
		}
	}
	if e.steps != 7 || e.resets != 3 {
		t.Errorf("%d steps in %d episodes, want 7 in 3", e.steps, e.resets)
	}
}
