package config

import (
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/knob"
	"pgrlab/core/task"
)

// A run is refused if its frames cannot fit on the disk, and not if they may fit.
func TestFramesThatFitOnNoDisk(t *testing.T) {
	c := Config{Steps: 1_000_000, Members: 1}
	c.Agent.Learner, c.Pixels = "drqv2", agent.DefaultPixels
	c.Pixels.Side, c.Buffer = 100, 1_000_000 // 30,000 bytes
	problem := task.Task{EpisodeSteps: 1000}
	for free, want := range map[int64]string{0: "", 1 << 40: "", 1e9: "", 2e8: "1,000,000 frames take about 6.985 GiB on the disk, 190.7 MiB are free: make fewer steps"} {
		err := c.FilmFits(free, problem)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("with %d bytes free: %v, want %q", free, err, want)
		}
	}
	c.Agent.Learner = ""
	if err := c.FilmFits(1, problem); err != nil {
		t.Errorf("a run without frames: %v", err)
	}
}

// A learner that the knob utd does not act on has a pace of its own. The random start ends earlier
// with several copies, and PPO has none.
func TestPace(t *testing.T) {
	c := Config{StartSteps: 1999, Knobs: knob.Settings{UTD: 20}, Pixels: agent.DefaultPixels}
	c.Environment.Copies = 4
	for learner, want := range map[string]agent.Pace{"sac": {From: 499, Updates: 20, Every: 1}, "drqv2": {From: 499, Updates: 1, Every: 2}, "ppo": {Updates: 16, Every: 256}} {
		c.Agent.Learner = learner
		if got := c.Pace(); got != want {
			t.Errorf("%s: %+v, want %+v", learner, got, want)
		}
	}
}
