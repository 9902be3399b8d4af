package lab

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// ppoECOOfFrames is a run of PPO that sees frames, with episodic curiosity of its frames and a
// round after every eighth env step.
func ppoECOOfFrames() config.Config {
	c, rays := ppoOfFrames(), ppoConfig("eco")
	c.Method, c.Bonus, c.Knobs.Bonus = rays.Method, rays.Bonus, rays.Knobs.Bonus
	eco := rays.Relevance.Of("eco").(relevance.ECOConfig)
	eco.Channels = []int{2, 3, 2}
	c.Relevance, c.Pixels.Side, c.Buffer = c.Relevance.With("eco", eco), 18, 24
	return c
}

// Such a run writes the same with one worker and with two.
func TestEpisodicCuriosityOfFramesOnTwoWorkers(t *testing.T) {
	c := ppoECOOfFrames()
	journal := func(threads int) string {
		folder := &memoryFolder{}
		if err := framesLabOf(t, c, mazeTask(t), threads, folder).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return folder.canonical(t)
	}
	one := journal(1)
	if two := journal(2); one != two {
		t.Errorf("one worker writes\n%s\ntwo write\n%s", one, two)
	}
	if !strings.Contains(one, `"episodes":{`) {
		t.Errorf("nothing is said of episodes:\n%s", one)
	}
}

// The bonus of an env step is F of the frame that it led to. The memory that is shown is the one
// from which F is computed, with the places on the map.
func TestEpisodicCuriosityOfFramesByHand(t *testing.T) {
	c := withCopies(ppoECOOfFrames(), 1)
	own, eco := c.Agent.Own["ppo"].(ppo.Settings), c.Relevance.Of("eco").(relevance.ECOConfig)
	own.Steps, own.Minibatches, c.Schedule = 16, 2, nil
	c.Agent.Own = agent.Own{"ppo": own}
	eco.History, eco.Entries = 8, 20
	c.Relevance = c.Relevance.With("eco", eco)
	l := framesLabOf(t, c, mazeTask(t), 1, nil)
	defer l.Close()
	x, m := l.x, l.x.first()
	for step := 1; step <= 14; step++ {
		x.begin(step)
		before := m.Losses.Bonus.Sum
		if err := x.collect(); err != nil {
			t.Fatal(err)
		}
		if step > 8 {
			shown, err := m.Rounds.Recall()
			if err != nil {
				t.Fatal(err)
			}
			if len(shown.Entries) == 0 || math.IsNaN(shown.Entries[0].X) {
				t.Fatalf("step %d: %+v", step, shown)
			}
			want := c.Knobs.Bonus * eco.Alpha * (eco.Beta - shown.P90)
			if got := m.Losses.Bonus.Sum - before; math.Abs(got-want) > 1e-9 {
				t.Errorf("step %d: a bonus of %v, want %v", step, got, want)
			}
		}
		for done := 0; m.Rounds.Due(); done++ {
			if err := m.Rounds.Learn(done); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A checkpoint refers to the frames of the history, which are in the log; the forecast includes as many as
// the run sees.
func TestAHistoryOfFramesIsForecast(t *testing.T) {
	need := func(history int) cost.Disk {
		c := ppoECOOfFrames()
		eco := c.Relevance.Of("eco").(relevance.ECOConfig)
		eco.History = history
		c.Relevance = c.Relevance.With("eco", eco)
		l := framesLabOf(t, c, mazeTask(t), 1, nil)
		defer l.Close()
		d, err := l.DiskNeed()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	short, long := need(24), need(3000)
	if short.Checkpoint != long.Checkpoint {
		t.Errorf("a checkpoint of %d bytes, with a longer history %d", short.Checkpoint, long.Checkpoint)
	}
	if short.Held >= long.Held || long.Held > long.Real || short.Real != long.Real {
		t.Errorf("with a short history %+v, with one that is longer than the run %+v", short, long)
	}
}

// If the history does not fit into memory, the error is one line that names it.
func TestAHistoryOfFramesThatDoesNotFit(t *testing.T) {
	c := ppoECOOfFrames()
	eco := c.Relevance.Of("eco").(relevance.ECOConfig)
	eco.History, c.Pixels.Side, c.Steps = 720_000, 84, 1_000_000
	c.Relevance = c.Relevance.With("eco", eco)
	err := c.FitsInto(config.Machine{Memory: 8 << 30}, mazeTask(t))
	if err == nil || !strings.Contains(err.Error(), "history 720000") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if limit := c.Limit(mazeTask(t)); limit < run.Limit(720_000*84*84*3) {
		t.Errorf("a checkpoint may hold %d bytes", limit)
	}
}
