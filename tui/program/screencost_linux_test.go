package program

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/tui"
	"pgrlab/tui/command"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/pane"
	"pgrlab/tui/testing/pty"
)

// slowLine is the rate of a bad connection, in bytes a second.
const slowLine = 20_000

// A run reaches its end however it is watched: with a screen, with one whose terminal stops
// reading, or with one whose line becomes slow in the middle. Its journal is that of a run without
// a screen.
func TestTheJournalIsTheSameHoweverARunIsWatched(t *testing.T) {
	setUp(t)
	args := []string{"--preset", "tiny.toml", "--seed", "1", "--steps", "300"}
	c, stderr := child(t, append([]string{"train", "--out", "alone"}, args...)...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, how := range []string{"screen", "stalled", "slow"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			middle := holdAt(t, 1, 150)
			p := sitDown(t, []string{"COLORTERM=truecolor", middle.setting}, append([]string{"--out", how}, args...)...)
			p.await("KNOBS")
			waits := middle.await()
			if how == "stalled" {
				p.stalls()
			} else if how == "slow" {
				p.mu.Lock()
				p.pace = slowLine
				p.mu.Unlock()
			}
			waits.release()
			eventually(t, "the run is done", func() bool {
				doc, err := os.ReadFile(filepath.Join(how, run.JournalName))
				return err == nil && strings.Contains(string(doc), `"type":"done"`)
			})
			p.leave()
			if canonical(t, how) != canonical(t, "alone") {
				t.Error("another journal than without a screen")
			}
		})
	}
}

// steady only trains, at the demo's scale: it makes one refit, so that batches are mixed, and then
// neither refits nor evaluations.
const steady = `
preset = "demo"
steps = 1_000_000

[evaluation]
every = 1_000_000

[knobs]
refit_every = 1_500
generator_steps = 300
samples = 2_000
`

// A screen does not slow the training. The test measures critic updates a second of one run, in
// turns without a screen, with one at 160 by 45, with one whose terminal stops reading, and with
// one at the end of a slow line. Turns are short and many, so that other load on the machine
// affects all of them; the medians of the ratios of neighbours are at least 0.97. The median over
// turns of the first kind shows the precision of this machine.
func TestAScreenSlowsNothing(t *testing.T) {
	if !soaking() {
		t.Skip("three minutes of training on a machine that does nothing else: PGRLAB_SOAK=1")
	}
	d := setUp(t)
	if err := os.WriteFile("steady.toml", []byte(steady), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("COLORTERM", "truecolor")
	terminal := openTerminal(t)
	d.Screen = func(ctx context.Context, o tui.Options) (tui.Outcome, error) {
		l, err := o.Start()
		if err != nil {
			return tui.Failed, err
		}
		o.Start = func() (pane.Lab, error) { return l, nil }
		for l.Snapshot().Refits == 0 || l.Snapshot().Phase != knob.Collect {
			<-time.After(50 * time.Millisecond)
		}
		compareTurns(t, ctx, o, l)
		return tui.StopRequested, l.Send(event.Stop{By: "test"})
	}
	var stderr bytes.Buffer
	if status := command.Main(context.Background(), d, []string{"--preset", "steady.toml", "--at", "1600:refit_every=1000000", "--out", "run"}, terminal, terminal, &stderr); status != cli.StatusDone {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

// compareTurns compares turns with a screen to the turns without one on both sides.
func compareTurns(t *testing.T, ctx context.Context, o tui.Options, l pane.Lab) {
	const rounds, long = 15, 1400 * time.Millisecond
	ratios := map[string][]float64{}
	before := speed(l, long)
	for range rounds {
		for _, how := range []string{"none", "screen", "stalled", "slow"} {
			with := watched(t, ctx, o, l, how, long)
			after := speed(l, long)
			ratios[how] = append(ratios[how], with/((before+after)/2))
			before = after
		}
	}
	median := map[string]float64{}
	for how, r := range ratios {
		slices.Sort(r)
		median[how] = r[len(r)/2]
		t.Logf("%-8s median of %d: %.3f of the speed before and after, all %.3f", how, len(r), median[how], r)
	}
	for how, m := range median {
		if m < 0.97 {
			t.Errorf("%s: %.3f of the speed without a screen, want 0.97", how, m)
		}
	}
}

// watched returns the speed of a run while a screen, or none, watches it.
func watched(t *testing.T, ctx context.Context, o tui.Options, l pane.Lab, how string, long time.Duration) float64 {
	if how == "none" {
		return speed(l, long)
	}
	person, program, err := pty.Open(160, 45)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	defer person.Close()
	o.Input, o.Output = program, program
	go func() {
		buf := make([]byte, 64<<10)
		if how == "slow" {
			buf = buf[:slowLine/20]
		}
		for how != "stalled" {
			n, err := person.Read(buf)
			if err != nil {
				return
			}
			if how == "slow" {
				time.Sleep(time.Duration(n) * time.Second / slowLine) // a slow line
			}
		}
	}()
	ctx, leave := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if _, err := tui.Run(ctx, o); err != nil {
			t.Error(err)
		}
	}()
	<-time.After(300 * time.Millisecond) // waits for the first frame
	v := speed(l, long)
	leave()
	person.Close() // ends a write that waits
	<-gone
	return v
}

// speed returns how many critic updates a run makes in a second.
func speed(l pane.Lab, during time.Duration) float64 {
	a := l.Snapshot()
	<-time.After(during)
	b := l.Snapshot()
	return float64(b.Updates-a.Updates) / b.Time.Sub(a.Time).Seconds()
}

// part labels goroutines, and those that they start, in profiles.
const part = "part"

// This test measures the screen's share of the processor time of the process, that is, all time not
// spent by the trainer and its workers; labels in a profile distinguish them. The screen has the
// full layout at 160 by 45, whose charts move. The workers hand over to each other thousands of
// times a second, which the profile attributes to none; a profile after the screen has closed
// shows how much of that is due to the screen. The long form, of the demo on a machine that does
// nothing else, allows 2 % at most. The short form only checks the labels: trainer and screen are
// both seen, and only the trainer once the screen is closed.
func TestTheScreensShareOfTheProcessor(t *testing.T) {
	d := setUp(t)
	d.Tasks = resting(d.Tasks)
	args, during, limit := []string{"--preset", "tiny.toml", "--steps", "1_000_000"}, 300*time.Millisecond, 1.0
	if soaking() {
		args, during, limit = []string{"--preset", "demo"}, 28*time.Second, 0.02
	}
	terminal, program, err := pty.Open(160, 45)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	defer program.Close()
	begun, closed, measured := make(chan struct{}), make(chan struct{}), make(chan struct{})
	screen, closeScreen := context.WithCancel(context.Background())
	d.Screen = func(ctx context.Context, o tui.Options) (outcome tui.Outcome, err error) {
		start := o.Start
		o.Start = func() (pane.Lab, error) {
			defer close(begun)
			pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(part, "trainer")))
			return start()
		}
		o.Input, o.Output = program, program
		pprof.Do(screen, pprof.Labels(part, "screen"), func(ctx context.Context) { outcome, err = tui.Run(ctx, o) })
		close(closed)
		<-measured // the run stays in this process meanwhile: leaving would hand it to another
		return outcome, err
	}
	p := &person{t: t, terminal: terminal, ended: make(chan struct{}), drained: make(chan struct{}), more: make(chan struct{})}
	go pprof.Do(context.Background(), pprof.Labels(part, "person"), func(context.Context) { p.read() })
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("COLORTERM", "truecolor")
	var stderr bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(p.ended)
		command.Main(ctx, d, append(args, "--out", "run"), program, program, &stderr)
	}()
	<-begun
	p.press("L", "layout ") // to the full layout
	with := profiled(t, during, "trainer", "screen")
	closeScreen()
	<-closed
	without := profiled(t, during, "trainer")
	// What the screen has still to end may be half of the few samples that a busy machine takes.
	for again := 0; again < 20 && !soaking() && without["screen"] > limit/10; again++ {
		without = profiled(t, during, "trainer")
	}
	cancel()
	close(measured)
	<-p.ended
	t.Logf("with the screen:    %v", with)
	t.Logf("without the screen: %v", without)
	share := with["screen"] + with["collector"] + max(0, with["switching"]-without["switching"])
	t.Logf("outside the trainer and its workers: %.2f%%", 100*share)
	if share > limit || without["screen"] > limit/10 {
		t.Errorf("share %.3f, %.3f when it is closed: want at most %.2f\n%s", share, without["screen"], limit, stderr.String())
	}
}

// shares are parts of the processor time.
type shares map[string]float64

func (s shares) String() string {
	var out []string
	for _, what := range []string{"trainer", "screen", "collector", "switching"} {
		out = append(out, fmt.Sprintf("%s %.2f%%", what, 100*s[what]))
	}
	return strings.Join(out, ", ")
}

// profiled measures what uses the processor for a while, and longer until all in waitsFor have
// been seen. Time is attributed by the labels of goroutines and, without a label, to the collector
// or to the runtime's switching between them. The time of the person at the terminal is left out.
func profiled(t *testing.T, during time.Duration, waitsFor ...string) shares {
	t.Helper()
	by, all := shares{}, 0.0
	seen := func() bool {
		return !slices.ContainsFunc(waitsFor, func(what string) bool { return by[what] == 0 })
	}
	for begin := time.Now(); time.Since(begin) < during || !seen(); {
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
		for _, s := range p.Sample {
			what := "switching"
			if l := s.Label[part]; len(l) > 0 {
				what = l[0]
			} else if collects(s) {
				what = "collector"
			}
			if what != "person" {
				spent := float64(s.Value[len(s.Value)-1])
				by[what] += spent
				all += spent
			}
		}
	}
	for what := range by {
		by[what] /= all
	}
	return by
}

// collects says whether a sample belongs to the garbage collector's own goroutines.
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
