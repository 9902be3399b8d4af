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
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/tui"
	"pgrlab/tui/command"
	"pgrlab/tui/pty"
)

// The ways a run is watched.
var watchings = []string{"screen", "stalled", "slow"}

// slowLine is what a bad connection carries, in bytes a second.
const slowLine = 20_000

// A screen does not slow the training: the same work takes the same time without any
// and with one, with one whose terminal stops reading, and with one at the end of a
// slow line. Alternating pairs; the long form holds the medians to 0.97, and its
// pairs can be run one by one. In the short form the run is tiny, and only its
// journal counts, which is the same however it was watched.
func TestAScreenSlowsNothing(t *testing.T) {
	setUp(t)
	rounds, args := 1, []string{"--preset", "tiny.toml"}
	if soaking() {
		rounds = 5
		args = []string{"--preset", "demo", "--steps", "2_000", "--set", "refit_every=1_500", "--set", "generator_steps=300", "--set", "samples=2_000"}
	}
	ratios := map[string][]float64{}
	for round := range rounds {
		for _, how := range watchings {
			t.Run(fmt.Sprint(how, round+1), func(t *testing.T) {
				pair := []string{how, "train"}
				if round%2 > 0 {
					slices.Reverse(pair)
				}
				dir, took := t.TempDir(), map[string]float64{}
				for _, way := range pair {
					took[way] = watched(t, way, filepath.Join(dir, way), args)
				}
				if canonical(t, filepath.Join(dir, "train")) != canonical(t, filepath.Join(dir, how)) {
					t.Error("another journal than without a screen")
				}
				ratio := took["train"] / took[how]
				ratios[how] = append(ratios[how], ratio)
				t.Logf("%-8s %6.2f s, without a screen %6.2f s: %.3f of its speed", how, took[how], took["train"], ratio)
			})
		}
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
// its end.
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

// between is the time between the first evaluation and the end, in seconds.
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
		if json.Unmarshal(line, &l) == nil && (l.Type == lab.TypeEvaluated || l.Type == lab.TypeDone) {
			times = append(times, l.Wall)
		}
	}
	if len(times) < 2 {
		t.Fatalf("%d evaluations and ends in %s", len(times), dir)
	}
	return times[len(times)-1] - times[0]
}

// part labels goroutines, and those that they begin, in profiles.
const part = "part"

// The screen's share of the processor time of the process, all that is not spent by
// the trainer and its workers: labels in a profile tell them apart. The full layout
// at 160 by 45, whose charts move. The workers hand over to each other thousands of
// times a second, which the profile gives to nobody; how much of that is the screen's
// shows after it has closed.
func TestTheScreensShareOfTheProcessor(t *testing.T) {
	d := setUp(t)
	args, during, limit := []string{"--preset", "tiny.toml", "--steps", "1_000_000"}, time.Second, 0.9
	if soaking() {
		args, during, limit = []string{"--preset", "demo"}, 28*time.Second, 0.02
	}
	person, program, err := pty.Open(160, 45)
	if err != nil {
		t.Skip(err)
	}
	defer person.Close()
	defer program.Close()
	begun, closed := make(chan struct{}), make(chan struct{})
	d.Screen = func(ctx context.Context, o tui.Options) (outcome tui.Outcome, err error) {
		defer close(closed)
		start := o.Start
		o.Start = func() (tui.Lab, error) {
			defer close(begun)
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
	ended := make(chan struct{})
	var stderr bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(ended)
		command.Main(ctx, d, append(args, "--out", "run"), program, program, &stderr)
	}()
	<-begun
	person.WriteString("L") // to full
	with := profiled(t, during)
	person.WriteString("q")
	<-time.After(200 * time.Millisecond) // two keys in one reading are no keys
	person.WriteString("d")
	<-closed
	without := profiled(t, during)
	cancel()
	<-ended
	t.Logf("with the screen:    %v", with)
	t.Logf("without the screen: %v", without)
	share := with["screen"] + with["collector"] + max(0, with["switching"]-without["switching"])
	t.Logf("outside the trainer and its workers: %.2f%%", 100*share)
	if share > limit || soaking() && with["screen"] == 0 {
		t.Errorf("share %.3f: want at most %.2f\n%s", share, limit, stderr.String())
	}
}

// shares are parts of the processor time.
type shares map[string]float64

func (s shares) String() string {
	var out []string
	for _, who := range []string{"trainer", "screen", "collector", "switching"} {
		out = append(out, fmt.Sprintf("%s %.2f%%", who, 100*s[who]))
	}
	return strings.Join(out, ", ")
}

// profiled watches the processor for a while and says who used it: by the labels of
// goroutines, and where there is none the collector, or the runtime switching between
// them. What the person at the terminal used is left out.
func profiled(t *testing.T, during time.Duration) shares {
	t.Helper()
	var doc bytes.Buffer
	if err := pprof.StartCPUProfile(&doc); err != nil {
		t.Fatal(err)
	}
	<-time.After(during)
	pprof.StopCPUProfile()
	p, err := profile.Parse(&doc)
	if err != nil {
		t.Fatal(err)
	}
	by, all := shares{}, 0.0
	for _, s := range p.Sample {
		who := "switching"
		if l := s.Label[part]; len(l) > 0 {
			who = l[0]
		} else if collects(s) {
			who = "collector"
		}
		if who != "person" {
			spent := float64(s.Value[len(s.Value)-1])
			by[who] += spent
			all += spent
		}
	}
	for who := range by {
		by[who] /= all
	}
	return by
}

// collects says whether a sample is of the garbage collector's own goroutines.
func collects(s *profile.Sample) bool {
	for _, l := range s.Location {
		for _, f := range l.Line {
			switch f.Function.Name {
			case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart":
				return true
			}
		}
	}
	return false
}
