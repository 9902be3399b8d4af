package program

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgrlab/core/knob"
	"pgrlab/core/rng"
)

// colourless turns colours off: without them a title is one piece of text.
var colourless = []string{"NO_COLOR=1"}

// A key shows within 100 ms (99 of 100 keys), whatever the run does. The long form presses keys
// while the demo trains, fits and generates, on a machine that does nothing else. In the short
// form, beside a tiny run, every key shows in the end.
func TestKeysShowAtOnce(t *testing.T) {
	setUp(t)
	args, keys, limit := []string{"--preset", "tiny.toml", "--steps", "1_000_000", "--out", "run"}, 24, time.Duration(math.MaxInt64)
	if soaking() {
		args, keys, limit = []string{"--preset", "demo", "--out", "run"}, 480, 100*time.Millisecond
	}
	p := sitDown(t, colourless, args...)
	p.await(knobNumber(2)) // the cursor begins on ω
	phase, took := "", map[string][]time.Duration{}
	at, way := 2, 1
	pauses := rng.New(1, "keys").At(0)
	for i := range keys {
		if soaking() {
			<-time.After(time.Duration(10+pauses.IntN(80)) * time.Millisecond) // people's key presses are not in step with the frames
		}
		p.mu.Lock()
		if seen := phaseOf(string(p.text)); seen != "" {
			phase = seen
		}
		p.mu.Unlock()
		var d time.Duration
		switch {
		case i%12 == 10:
			d = p.press("\t", "▸ RETURN")
		case i%12 == 11:
			d = p.press("\x1b[Z", "▸ KNOBS")
		default:
			key := "j"
			if at+way < 1 || at+way > len(knob.All()) {
				way = -way
			}
			if way < 0 {
				key = "k"
			}
			at += way
			d = p.press(key, knobNumber(at))
		}
		took[phase] = append(took[phase], d)
	}
	var all []time.Duration
	for phase, d := range took {
		slices.Sort(d)
		all = append(all, d...)
		t.Logf("%-14s %3d keys: median %v, 99th percentile %v, longest %v", phase, len(d), d[len(d)/2], d[len(d)*99/100], d[len(d)-1])
	}
	slices.Sort(all)
	if p99 := all[len(all)*99/100]; p99 > limit {
		t.Errorf("99th percentile %v of %d keys: want at most %v", p99, len(all), limit)
	}
	if soaking() && (len(took["fit"]) < 10 || len(took["generate"]) < 3) {
		t.Errorf("pressed %d keys during fits and %d during generations: too few to say anything", len(took["fit"]), len(took["generate"]))
	}
}

// A screen writes nothing while nothing changes: on the first screen, of a paused run, and of a run
// that is over. Before it falls silent it writes less than two screens.
func TestAScreenThatStandsStillWritesNothing(t *testing.T) {
	setUp(t)
	during := time.Second
	if soaking() {
		during = 12 * time.Second
	}
	still := func(p *person, what string) {
		p.t.Helper()
		if n := p.silent(during, 2*160*45); n > 2*160*45 {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.t.Errorf("%s: %d bytes, and no end: %q", what, n, p.text[max(0, len(p.text)-4000):])
		} else {
			p.t.Logf("%s: silent after %d bytes", what, n)
		}
	}
	t.Run("picker", func(t *testing.T) {
		t.Parallel()
		p := sitDown(t, nil)
		p.await("writes about") // the last text that comes by itself
		still(p, "picker")
	})
	t.Run("paused", func(t *testing.T) {
		t.Parallel()
		p := sitDown(t, colourless, "--preset", "tiny.toml", "--steps", "1_000_000", "--out", "long")
		p.await(knobNumber(2)) // the cursor begins on ω
		p.press(" ", "PAUSED")
		still(p, "paused")
		for _, layout := range []string{"full", "present", "focus"} {
			p.press("L", "layout "+layout)
		}
		still(p, "paused, after a walk through the layouts")
	})
	t.Run("done", func(t *testing.T) {
		t.Parallel()
		p := sitDown(t, colourless, "--preset", "tiny.toml", "--out", "short")
		p.await("DONE")
		still(p, "done")
	})
}

// This test measures how much a frame writes at 160 by 45 while everything moves; per second it would
// depend on how quick the machine is. The short form has new evaluations at every look, so that whole
// charts change.
func TestBytesOfAMovingScreen(t *testing.T) {
	setUp(t)
	args, frames, limit := []string{"--preset", "tiny.toml", "--steps", "1_000_000", "--out", "run"}, 12, 30_000 // drawing everything again takes more
	if soaking() {
		args, frames, limit = []string{"--preset", "demo", "--out", "run"}, 120, 6_000
	}
	p := sitDown(t, []string{"COLORTERM=truecolor"}, args...)
	p.await("KNOBS")
	for _, layout := range []string{"focus", "full", "present"} {
		p.forget()
		text := p.frames(frames)
		t.Logf("layout %-8s %d bytes a frame", layout, len(text)/frames)
		if len(text)/frames > limit {
			t.Errorf("layout %s: %d bytes in %d frames", layout, len(text), frames)
		}
		p.press("L", "layout ")
	}
}
