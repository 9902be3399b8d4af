package lab

import (
	"context"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
	"pgrlab/envs/maze"
)

// ppoLatentConfig is a run of prioritized generative replay on PPO, in three copies of a maze.
func ppoLatentConfig() config.Config {
	c := withCopies(tiny.Config(), 3)
	c.Task, c.Method, c.StartSteps = "maze-sparse", "pgr-rnd", 0
	c.Agent.Learner, c.Agent.Hidden = "ppo", []int{8, 6}
	own := ppo.DefaultSettings
	own.Steps, own.Epochs, own.Minibatches, own.Anneal, own.Window, own.KeepRewarded = 8, 2, 3, 1, 2, 4
	c.Agent.Own = agent.Own{"ppo": own}
	c.Knobs.Relevance, c.Knobs.Hold, c.Knobs.Ratio, c.Knobs.Batch, c.Knobs.RefitEvery = "rnd", knob.HoldReal, 0.5, 8, 8
	c.Evaluation.Actions, c.Evaluation.Every = config.ActionsSample, 17
	return c
}

// ppoLatentOfObservations is such a run whose F is computed from the policy's observations.
func ppoLatentOfObservations(function string) config.Config {
	c := ppoLatentConfig()
	rnd, icm := c.Relevance.Of("rnd").(relevance.RNDConfig), c.Relevance.Of("curiosity").(relevance.ICMConfig)
	rnd.On, icm.On = relevance.OnObservations, relevance.OnObservations
	rnd.Every, icm.Every, icm.ForwardShare = 12, 12, 0.2
	c.Relevance = c.Relevance.With("rnd", rnd).With("curiosity", icm)
	c.Knobs.Relevance = function
	return c
}

// ppoLatentLab makes such a run on a device with so many threads.
func ppoLatentLab(t *testing.T, c config.Config, threads int, folder record) *Lab {
	t.Helper()
	dev := quick(t, threads)
	mazes := mazeTask(t)
	c = inEnvSteps(c)
	p, err := newParts(&c, mazes, dev)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLab(c, mazes, folder, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(FaultFail)
	return l
}

// Prioritized generative replay runs on PPO with every relevance function that it supports. D_real
// holds the trunk's latents, D_syn has its shape, and one worker writes the same as two.
func TestGenerativeReplayOnPPO(t *testing.T) {
	racing.Skip(t)
	for _, relevant := range []string{"rnd", "curiosity", "reward", "none", "observed rnd", "observed curiosity"} {
		var journals []string
		for threads := range 2 {
			c := ppoLatentConfig()
			function, observed := strings.CutPrefix(relevant, "observed ")
			if observed {
				c = ppoLatentOfObservations(function)
			}
			c.Knobs.Relevance = function
			c.Generator.Conditional = relevant != "none"
			folder := &memoryFolder{}
			l := ppoLatentLab(t, c, threads+1, folder)
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			journals = append(journals, folder.canonical(t))
			m := l.x.first()
			want := replay.Shape{Obs: 6, Act: maze.ActSize}
			if m.Real.Shape() != want || m.Synthetic == nil || m.Synthetic.Shape() != want || m.Real.Len() != 2*8*3 || m.Synthetic.Len() != c.Knobs.Samples {
				t.Fatalf("%s: D_real of %v with %d rows, D_syn %v", relevant, m.Real.Shape(), m.Real.Len(), m.Synthetic)
			}
			if m.Mix != (replay.Mix{Real: 4, Synthetic: 4}) {
				t.Errorf("%s: the last mix is %+v", relevant, m.Mix)
			}
		}
		if journals[0] != journals[1] {
			t.Errorf("%s: one worker writes\n%s\ntwo write\n%s", relevant, journals[0], journals[1])
		}
	}
}

// linesOfKinds runs a lab and returns its lines of some kinds, without what says when they were written.
func linesOfKinds(t *testing.T, l *Lab, folder *memoryFolder, kinds ...string) (all []string) {
	t.Helper()
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(folder.canonical(t), "\n") {
		for _, kind := range kinds {
			if strings.Contains(line, `"type":"`+kind+`"`) {
				all = append(all, line[strings.Index(line, `"type"`):])
			}
		}
	}
	return all
}

// With r = 0 the agent is PPO without a generator: the lines of its returns and losses are the
// same.
func TestWithoutSyntheticRowsItIsPPO(t *testing.T) {
	c := ppoLatentConfig()
	c.Knobs.Ratio = 0
	lines := func() []string {
		folder := &memoryFolder{}
		return linesOfKinds(t, ppoLatentLab(t, c, 1, folder), folder, event.TypeEpisode, event.TypeEvaluated)
	}
	beside := lines()
	withoutGenerator(&c)
	alone := lines()
	if len(alone) == 0 || strings.Join(alone, "\n") != strings.Join(beside, "\n") {
		t.Errorf("beside a generator\n%s\nalone\n%s", strings.Join(beside, "\n"), strings.Join(alone, "\n"))
	}
}

// Changes of r, ω and F are reported as in force when they are, each in its place.
func TestLiveChangesOnPPO(t *testing.T) {
	c := ppoLatentConfig()
	c.Schedule = []string{"10:ratio=0.25", "11:guidance=3", "12:relevance=curiosity"}
	l := ppoLatentLab(t, c, 1, &memoryFolder{})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	changes, _ := bodies[event.KnobChanged](l)
	forces, at := bodies[event.InForce](l)
	if len(changes) != 3 || len(forces) != 3 {
		t.Fatalf("changes %+v, in force %+v", changes, forces)
	}
	want := map[string]int{"ratio": 3 * 16, "guidance": 3 * 24, "relevance": 3 * 24} // at the next iteration; at the one after the next refit
	for i, f := range forces {
		if at[i] != want[f.Knob] {
			t.Errorf("%s is in force at step %d, want %d", f.Knob, at[i], want[f.Knob])
		}
	}
}

// Combinations that are not supported are refused in one line before anything is built.
func TestWhatGenerativeReplayOnPPOCannot(t *testing.T) {
	for want, change := range map[string]func(c *config.Config){
		"bonus.function is":   func(c *config.Config) { c.Bonus = config.Bonus{Function: "rnd", Scale: config.ScaleReturns} },
		"want at most 0.9375": func(c *config.Config) { c.Knobs.Hold, c.Knobs.Ratio = knob.HoldBatch, 1 },
	} {
		c := ppoLatentConfig()
		change(&c)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
