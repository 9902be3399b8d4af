package tui

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Estimates that jump between 3 and 13 minutes do not make the shown time jump. A correct estimate
// is shown unchanged, once there are estimates over more than a few steps.
func TestCountdownCountsDown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	begin := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	const all = 20 * time.Minute
	for trial := range 50 {
		var c, steady countdown
		jumpy := 1.0
		before := time.Duration(0)
		for at := time.Duration(0); at < all-time.Minute; at += 200 * time.Millisecond {
			now := begin.Add(at)
			if at%(20*time.Second) == 0 {
				jumpy = 0.4 + 1.2*r.Float64()
			}
			c.take(now, time.Duration(jumpy*float64(all-at)), false)
			steady.take(now, all-at, false)
			left := c.end.Sub(now)
			if at > 2*etaLag && (left-before > 5*time.Second || before-left > 10*time.Second) {
				t.Fatalf("trial %d: after %s the time to go went from %s to %s in 200 ms", trial, at, before, left)
			}
			before = left
			if off := steady.end.Sub(begin.Add(all)); off > time.Millisecond || off < -time.Millisecond {
				t.Fatalf("an estimate that is true is off by %s", off)
			}
		}
	}
	var first countdown // the first steps are slow: an estimate of 10 hours becomes 20 minutes ten seconds later
	for at := range 60 {
		hours := 600 * math.Pow(0.7, float64(at))
		first.take(begin.Add(time.Duration(at)*time.Second), all+time.Duration(hours*float64(time.Minute))-time.Duration(at)*time.Second, false)
		if left := first.end.Sub(first.at); at == 30 && left > all+10*time.Minute || at == 59 && left > all+2*time.Minute {
			t.Errorf("%d seconds after the first estimate %s are shown", at, left)
		}
	}
	var c countdown
	c.take(begin, time.Hour, false)
	for at := range 300 { // the estimate has fallen for good
		c.take(begin.Add(time.Duration(at)*time.Second), 10*time.Minute-time.Duration(at)*time.Second, false)
	}
	if left := c.end.Sub(c.at); left > 5*time.Minute+30*time.Second {
		t.Errorf("five minutes after the estimate fell, %s are shown", left)
	}
	c.take(begin.Add(400*time.Second), 0, false)
	if c.text() != "" {
		t.Errorf("an unknown time is %q", c.text())
	}
}

// While a run waits no time of it passes: what is left after an hour's pause is what was left before.
func TestCountdownWaits(t *testing.T) {
	begin, left := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), 6*time.Minute
	var c countdown
	for at := time.Duration(0); at <= 2*time.Minute; at += time.Second {
		c.take(begin.Add(at), left-at, at == 2*time.Minute)
	}
	for at := range 3 {
		c.take(begin.Add(2*time.Minute+time.Hour+time.Duration(at)*time.Second), left-2*time.Minute-time.Duration(at)*time.Second, false)
		if c.text() != "4m00s" {
			t.Errorf("%d s after a pause: %s", at, c.text())
		}
	}
}

func TestCountdownText(t *testing.T) {
	for left, want := range map[time.Duration]string{
		4 * time.Second: "4s", 63 * time.Second: "1m00s", 7*time.Minute + 38*time.Second: "7m40s", 12*time.Minute + 40*time.Second: "13m",
		3*time.Hour + 4*time.Minute: "3h05m", 26 * time.Hour: "26h",
	} {
		var c countdown
		c.take(time.Unix(0, 0).Add(time.Hour), left, false)
		if got := c.text(); got != want {
			t.Errorf("%s: %q, want %q", left, got, want)
		}
	}
}
