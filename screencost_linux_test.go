package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/tui"
	"pgrlab/tui/command"
	"pgrlab/tui/pty"
)

// The ways a run is watched, or not.
var watchings = []string{"train", "screen", "stalled", "slow"}

// slowLine is what a bad connection carries, in bytes a second.
const slowLine = 20_000

// A screen does not slow the training: the same work takes the same time with a
// screen, with one whose terminal stops reading, with one at the end of a slow line,
// and without any. Rounds of all four, in another order each; the long form holds the
// medians to 0.97. In the short form the run is tiny, and only its journal counts,
// which is the same however it was watched.
func TestAScreenSlowsNothing(t *testing.T) {
	setUp(t)
	rounds, args := 1, []string{"--preset", "tiny.toml"}
	if soaking() {
		rounds = 5
		args = []string{"--preset", "demo", "--steps", "3_000", "--set", "generator_steps=300", "--set", "samples=2_000"}
	}
	ratios := map[string][]float64{}
	for round := range rounds {
		t.Run(fmt.Sprint("round", round+1), func(t *testing.T) {
			took := map[string]float64{}
			for i := range watchings {
				how := watchings[(i+round)%len(watchings)]
				dir, _ := filepath.Abs(fmt.Sprintf("%s-%d", how, round))
				took[how] = watched(t, how, dir, args)
			}
			want, _ := filepath.Abs(fmt.Sprintf("train-%d", round))
			for _, how := range watchings[1:] {
				ratio := took["train"] / took[how]
				ratios[how] = append(ratios[how], ratio)
				t.Logf("%-8s %6.2f s, without a screen %6.2f s: %.3f of its speed", how, took[how], took["train"], ratio)
				if got, _ := filepath.Abs(fmt.Sprintf("%s-%d", how, round)); canonical(t, got) != canonical(t, want) {
					t.Errorf("%s: another journal than without a screen", how)
				}
			}
		})
	}
	for how, r := range ratios {
		slices.Sort(r)
		t.Logf("%-8s median of %d: %.3f", how, len(r), r[len(r)/2])
		if soaking() && len(r) == rounds && r[len(r)/2] < 0.97 {
			t.Errorf("%s: median %.3f of the speed without a screen: want 0.97", how, r[len(r)/2])
		}
	}
}

// watched makes a run and says how many seconds it took from its first evaluation to
// its last.
func watched(t *testing.T, how, dir string, args []string) float64 {
	t.Helper()
	if how == "train" {
		c, stderr := child(t, append([]string{"train", "--out", dir}, args...)...)
		if err := c.Run(); err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		return between(t, dir)
	}
	p := sitDown(t, []string{"COLORTERM=truecolor"}, append([]string{"--out", dir}, args...)...)
	defer p.leave()
	if how == "slow" {
		p.mu.Lock()
		p.pace = slowLine
		p.mu.Unlock()
	}
	if p.await("STARTING"); how == "stalled" {
		p.stalls()
	}
	eventually(t, "the run is done", func() bool {
		doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
		return err == nil && strings.Contains(string(doc), `"type":"done"`)
	})
	return between(t, dir)
}

// between is the time between the first evaluation and the last, in seconds.
func between(t *testing.T, dir string) float64 {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	for line := range bytes.Lines(doc) {
		var l struct {
			Type string
			Wall float64 `json:"wall_s"`
		}
		if json.Unmarshal(line, &l) == nil && l.Type == lab.TypeEvaluated {
			times = append(times, l.Wall)
		}
	}
	if len(times) < 2 {
		t.Fatalf("%d evaluations in %s", len(times), dir)
	}
	return times[len(times)-1] - times[0]
}

// part labels goroutines, and those that they begin, in profiles.
const part = "part"

// The screen's share of the processor time of the process, all that is not spent by
// the trainer and its workers: labels in a profile tell them apart. The full layout
// at 160 by 45, whose charts move.
func TestTheScreensShareOfTheProcessor(t *testing.T) {
	d := setUp(t)
	args, during, limit := []string{"--preset", "tiny.toml", "--steps", "1_000_000"}, time.Second, 0.9
	if soaking() {
		args, during, limit = []string{"--preset", "demo"}, 40*time.Second, 0.02
	}
	person, program, err := pty.Open(160, 45)
	if err != nil {
		t.Skip(err)
	}
	defer person.Close()
	defer program.Close()
	var begun sync.WaitGroup
	begun.Add(1)
	d.Screen = func(ctx context.Context, o tui.Options) (outcome tui.Outcome, err error) {
		start := o.Start
		o.Start = func() (tui.Lab, error) {
			defer begun.Done()
			pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(part, "trainer")))
			return start()
		}
		o.Input, o.Output = program, program
		pprof.Do(ctx, pprof.Labels(part, "screen"), func(ctx context.Context) { outcome, err = tui.Run(ctx, o) })
		return outcome, err
	}
	go pprof.Do(context.Background(), pprof.Labels(part, "person"), func(context.Context) {
		for buf := make([]byte, 64<<10); err == nil; {
			_, err = person.Read(buf)
		}
	})
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("COLORTERM", "truecolor")
	ended := make(chan int)
	var stderr bytes.Buffer
	go func() {
		ended <- command.Main(context.Background(), d, append(args, "--out", "run"), program, program, &stderr)
	}()
	begun.Wait()
	person.WriteString("L") // to full
	var doc bytes.Buffer
	if err := pprof.StartCPUProfile(&doc); err != nil {
		t.Fatal(err)
	}
	<-time.After(during)
	pprof.StopCPUProfile()
	person.WriteString("q")
	<-time.After(200 * time.Millisecond) // two keys in one reading are no keys
	person.WriteString("s")
	if status := <-ended; status != command.StatusDone {
		t.Errorf("status %d: %s", status, stderr.String())
	}
	spent, all := profiled(t, &doc)
	outside := all - spent["trainer"] - spent["person"]
	t.Logf("of %v: trainer %v, screen %v, nobody's (collector, scheduler) %v, the person's terminal %v; outside the trainer %.2f%%",
		all, spent["trainer"], spent["screen"], spent[""], spent["person"], 100*outside.Seconds()/all.Seconds())
	if share := outside.Seconds() / all.Seconds(); share > limit || spent["screen"] == 0 && soaking() {
		t.Errorf("share %.3f: want at most %.2f", share, limit)
	}
}

// profiled is the processor time in a profile by the label of its goroutines, and all
// of it.
func profiled(t *testing.T, doc *bytes.Buffer) (by map[string]time.Duration, all time.Duration) {
	t.Helper()
	p, err := profile.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	by = map[string]time.Duration{}
	for _, s := range p.Sample {
		who := ""
		if l := s.Label[part]; len(l) > 0 {
			who = l[0]
		}
		spent := time.Duration(s.Value[len(s.Value)-1])
		by[who] += spent
		all += spent
	}
	return by, all
}
