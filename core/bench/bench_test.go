package bench

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"pgrlab/core/device/cpu"
)

// Every workload prepares and steps, and reports a time and a rate.
func TestWorkloadsRun(t *testing.T) {
	dev, err := cpu.New(cpu.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, w := range Workloads {
		if large := strings.Contains(w.Name, "1024") || strings.Contains(w.Name, "2048"); large && os.Getenv("PGRLAB_SOAK") == "" {
			continue // tens of seconds on a busy machine
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
	if _, ok := Find("critic"); !ok {
		t.Error("critic cannot be found")
	}
	if _, ok := Find("no such thing"); ok {
		t.Error("something was found that is not there")
	}
}
