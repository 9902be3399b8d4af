package tui

import (
	"strings"
	"testing"

	"pgrlab/tui/pane"
)

// Where a text is asked for, the next line is that text.
func TestPlainAsksForText(t *testing.T) {
	f := newFake()
	f.advance(24_000)
	c := fakeConfig()
	c.Evaluation.Every = 1000
	k := newTalkAbout(t, f, pane.About{Config: c, Fork: (&nursery{}).fork})
	k.say("", "running: After 24,000 steps")
	k.say("placebo", "type s: another number of steps")
	k.say("s", "env steps a fork: (type it, an empty line for 2500, or esc)")
	k.say("status", "running: After 24,000")
	k.say("", "env steps a fork: (type it")
	k.say("20", "20 steps are too few: a fork is evaluated every 250")
	k.say("", "env steps a fork: (type it")
	k.say("2000", "2,000 env steps a fork")
	k.say("s", "env steps a fork: (type it, an empty line for 2000, or esc)")
	k.say("esc", "")
	k.say("ratio 0.75", "#1 r ratio 0.5 → 0.75")
	k.say("apply", "r = (type it, or esc)")
	k.say("0.25", "staged r 0.75 → 0.25")
	k.say("apply", "#2 r ratio 0.75 → 0.25")
	k.say("quit", "leave it training")
	k.leave()
	if strings.Contains(k.out.text(), "unknown knob") {
		t.Error(k.out.text())
	}
}
