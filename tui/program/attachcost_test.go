package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/tui/remote"
)

// This test measures what screens that come and go cost a run in a process of its own. Rounds with
// and without screens take turns, and the result is the median ratio of the step rates of
// neighbouring rounds. The long form makes 120 visits in a minute and needs a quiet machine.
func TestScreensCostLittle(t *testing.T) {
	setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rounds, visits, lasts, least, hidden, batch := 1, 4, 300*time.Millisecond, 0.0, "[16, 16]", "batch=16" // any rate is accepted
	if soaking() {
		rounds, visits, lasts, least, hidden, batch = 30, 4, time.Second, 0.98, "[256, 256]", "batch=256"
	}
	steady := strings.NewReplacer("every = 75", "every = 10_000_000", "hidden = [16, 16]", "hidden = "+hidden).Replace(tiny)
	if err := os.WriteFile("steady.toml", []byte(steady), 0o644); err != nil {
		t.Fatal(err)
	}
	run, said := child(t, "train", "--preset", "steady.toml", "--method", "sac", "--set", "utd=1", "--set", batch,
		"--steps", "10000000", "--out", "run")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	r := &training{t: t, dir: "run", status: make(chan int, 1)}
	go func() { run.Wait(); r.status <- run.ProcessState.ExitCode() }()
	defer run.Process.Kill()
	r.until("it trains", func() bool {
		var err error
		r.socket, err = remote.Find(r.dir)
		return err == nil && r.look().Step > 300
	})
	visit := func() {
		if text, err := r.visit("visitor", leaving...); err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	visit() // what is made only once is made now
	files := func() int {
		all, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(run.Process.Pid), "fd"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	open := files()
	now := func() (step int, at time.Time) { // waits for a new report of the step
		before := r.look().Step
		r.until("it goes on", func() bool { step, at = r.look().Step, time.Now(); return step > before })
		return step, at
	}
	rate := func(visits int) float64 {
		from, begin := now()
		pace := time.NewTicker(lasts / time.Duration(visits+1))
		defer pace.Stop()
		for range visits {
			<-pace.C
			visit()
		}
		rest, cancel := context.WithDeadline(t.Context(), begin.Add(lasts))
		defer cancel()
		<-rest.Done()
		to, end := now()
		return float64(to-from) / end.Sub(begin).Seconds()
	}
	var alone, visited, ratios []float64
	for range rounds {
		alone, visited = append(alone, rate(0)), append(visited, rate(visits))
		ratios = append(ratios, visited[len(visited)-1]/alone[len(alone)-1])
	}
	got := median(ratios)
	t.Logf("%d visits: %.0f steps/s alone, %.0f with them: median of the ratios %.3f (%.3f to %.3f), ratio of the medians %.3f",
		rounds*visits, median(alone), median(visited), got, slices.Min(ratios), slices.Max(ratios), median(visited)/median(alone))
	if got < least {
		t.Errorf("visits leave %.3f of the step rate, want %.2f", got, least)
	}
	r.until("every file is closed", func() bool { return files() <= open })
	r.ask("stop")
	if status := <-r.status; status != 0 {
		t.Errorf("status %d:\n%s", status, said)
	}
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
