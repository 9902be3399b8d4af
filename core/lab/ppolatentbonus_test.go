package lab

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/testing/racing"
)

// besideABonus is a run of prioritized generative replay on PPO with a bonus of that function in
// its rewards, from rays or from frames.
func besideABonus(function, observation string) config.Config {
	c := ppoLatentOfObservations("rnd")
	if observation == "frames" {
		c = ppoLatentOfFrames("rnd")
	}
	c.Bonus, c.Knobs.Bonus = config.Bonus{Function: function, Scale: config.ScalePaper}, 0.25
	if function == "eco" {
		c.Bonus.Scale, c.Relevance = config.ScalePaper, c.Relevance.With("eco", ppoConfig("eco").Relevance.Of("eco"))
		if observation == "frames" {
			c.Relevance = c.Relevance.With("eco", ppoECOOfFrames().Relevance.Of("eco"))
		}
	}
	return c
}

var bonusesBesideAGenerator = map[string]config.Config{
	"rnd of rays": besideABonus("rnd", "rays"), "curiosity of rays": besideABonus("curiosity", "rays"), "eco of rays": besideABonus("eco", "rays"),
	"rnd of frames": besideABonus("rnd", "frames"), "eco of frames": besideABonus("eco", "frames"),
}

// With r = 0 a bonus beside a generator is the same as without one: the returns of the agent, the
// bonus, and the losses of its model.
func TestABonusBesideAGeneratorIsThatWithoutOne(t *testing.T) {
	racing.Skip(t)
	lines := func(c config.Config) []string {
		folder := &memoryFolder{}
		return linesOfKinds(t, framesOn(t, c, mazeTask(t), quick(t, 1), folder), folder, event.TypeEpisode, event.TypeEvaluated, event.TypeLosses)
	}
	for name, c := range bonusesBesideAGenerator {
		own := c.Agent.Own["ppo"].(ppo.Settings)
		own.Window = c.Steps // everything is kept, as in the run without a generator
		c.Agent.Own = agent.Own{"ppo": own}
		c.Knobs.Ratio, c.Knobs.Relevance, c.Generator.Conditional = 0, relevance.None, false
		beside := lines(c)
		withoutGenerator(&c)
		alone := lines(c)
		if !strings.Contains(strings.Join(alone, "\n"), `"bonus":`) || strings.Join(alone, "\n") != strings.Join(beside, "\n") {
			t.Errorf("%s: beside a generator\n%s\nalone\n%s", name, strings.Join(beside, "\n"), strings.Join(alone, "\n"))
		}
	}
}

// D_real has the rewards that the agent learned from, with the bonus of their time.
func TestDRealHasRewardsWithTheBonus(t *testing.T) {
	racing.Skip(t)
	for name, c := range bonusesBesideAGenerator {
		l := framesOn(t, c, mazeTask(t), quick(t, 1), &memoryFolder{})
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.x.first()
		real, some := m.Real, map[float32]bool{}
		for i := range real.Len() {
			reward := real.Row(i)[real.Shape().Obs+real.Shape().Act]
			if bonus := math.Mod(math.Abs(float64(reward)), 10); bonus > 0 && bonus < 5 {
				some[reward] = true
			}
		}
		if m.Synthetic == nil || len(some) < real.Len()/2 {
			t.Errorf("%s: rewards of D_real with a bonus: %v, of %d rows", name, slices.Collect(maps.Keys(some)), real.Len())
		}
	}
}

// Such a run writes the same with one worker and with two.
func TestABonusBesideAGeneratorOnTwoWorkers(t *testing.T) {
	racing.Skip(t)
	for name, c := range bonusesBesideAGenerator {
		c.Schedule = []string{"9:bonus=0.5", "10:ratio=0.75", "17:bonus=0"}
		var journals []string
		for threads := range 2 {
			folder := &memoryFolder{}
			l := framesOn(t, c, mazeTask(t), quick(t, threads+1), folder)
			if err := l.x.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.Close()
			journals = append(journals, folder.canonical(t))
		}
		if journals[0] != journals[1] {
			t.Errorf("%s: two workers write something else", name)
		}
	}
}

// Combinations that are not supported are refused before anything is built, in one line that says
// what is supported.
func TestWhatABonusBesideAGeneratorCannot(t *testing.T) {
	rays, frames := besideABonus("rnd", "rays"), besideABonus("rnd", "frames")
	rnd := rays.Relevance.Of("rnd").(relevance.RNDConfig)
	rnd.On = relevance.OnLatents
	rays.Relevance, frames.Relevance = rays.Relevance.With("rnd", rnd), frames.Relevance.With("rnd", rnd)
	for want, c := range map[string]config.Config{
		`want rnd.on "observations"`:            rays,
		`want "rnd" with rnd.on "observations"`: frames,
	} {
		err := c.Validate()
		if err == nil {
			_, err = newParts(&c, mazeTask(t), quick(t, 1))
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A change of the bonus is in force at the first iteration whose env steps have the new bonus.
func TestALiveBonusBesideAGenerator(t *testing.T) {
	c := besideABonus("rnd", "rays")
	c.Schedule = []string{"10:bonus=0"}
	l := framesOn(t, c, mazeTask(t), quick(t, 1), &memoryFolder{})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if forces, at := bodies[event.InForce](l); len(forces) != 1 || forces[0].Knob != "bonus" || at[0] != 3*16 {
		t.Errorf("in force: %+v at %v", forces, at)
	}
}
