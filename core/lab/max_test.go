package lab

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

// Generated rows carry F of the generator's own networks, fitted before they were made; the rewards stay
// the model's. The first fit is without F, which is not known yet, and all lines about losses that come
// after it are of both agents.
func TestAnExplorerIsGivenF(t *testing.T) {
	c := variant("max")
	c.Generator.Retain = 1
	l, journal := realRun(t, c, 1)
	m := l.x.first()
	syn, f := m.Synthetic, make([]float32, m.Synthetic.Len())
	b := replay.NewBatch(syn.Shape(), len(f))
	syn.GatherRange(b, 0, len(f))
	if err := m.F.Score(f, b, len(f)); err != nil {
		t.Fatal(err)
	}
	c.Generator.Retain = 2
	kept, _ := realRun(t, c, 1)
	if old := kept.x.first().Synthetic; old.Len() < 2*syn.Len() || old.Note(old.Oldest(0, 1)[0]).F == 0 {
		t.Errorf("of two generations %d rows are kept, the oldest with %+v", old.Len(), old.Note(old.Oldest(0, 1)[0]))
	}
	most, rewards := 0.0, 0.0
	for i, want := range f {
		if got := syn.Note(i).F; got != want {
			t.Fatalf("row %d carries F = %v, it is %v", i, got, want)
		}
		most, rewards = max(most, math.Abs(float64(want))), rewards+math.Abs(float64(b.Reward[i]-want))
	}
	if most == 0 || rewards == 0 {
		t.Errorf("the largest F is %v; rewards differ from it by %v in all", most, rewards)
	}
	if n := strings.Count(journal, "which are fitted for the first time: this fit is without conditions"); n != 1 {
		t.Errorf("%d fits are said to be without F", n)
	}
	refits, at := bodies[event.Refit](l)
	if len(refits) != 2 || refits[0].F != nil || refits[1].F == nil || refits[1].F.Of != "ensemble" || refits[1].F.Achieved == nil {
		t.Errorf("refits at %v: %+v", at, refits)
	}
	lines, at := bodies[event.Losses](l)
	for i, line := range lines {
		if x := line.Explorer; (x != nil) != (at[i] > 12) || x != nil && (x.Critic == nil || x.Actor == nil || x.QMean == nil) {
			t.Errorf("step %d: %+v", at[i], line.Explorer)
		}
	}
	if x := m.Losses.Last().Explorer; x == nil || x.Critic == 0 {
		t.Errorf("the newest losses have %+v of the explorer", x)
	}
}

// With F none the explorer finds nothing worth going to; with another F it learns that one, from the next
// refit on.
func TestAnExplorerCanBeGivenAnotherF(t *testing.T) {
	for name, other := range map[string]bool{relevance.None: false, "curiosity": true, "td": true} {
		c := variant("max")
		c.Generator.Retain, c.Schedule = 1, []string{"20:relevance=" + name}
		l, _ := realRun(t, c, 1)
		syn, sum := l.x.first().Synthetic, 0.0
		for i := range syn.Len() {
			sum += math.Abs(float64(syn.Note(i).F))
		}
		if (sum > 0) != other {
			t.Errorf("%s: F of all generated rows together is %v", name, sum)
		}
	}
}

// Without generated rows in the exploiter's batches, a change of what is generated is in force with the
// explorer's.
func TestAnExplorerLearnsWhateverTheRatio(t *testing.T) {
	c := variant("max")
	c.Knobs.Ratio, c.Schedule = 0, []string{"20:horizon=2"}
	l, journal := realRun(t, c, 1)
	if !strings.Contains(journal, `{"type":"in_force","step":25,`) || strings.Contains(journal, "while r is 0") {
		t.Errorf("the change is never in force, or is said to have no effect:\n%s", journal)
	}
	if x := l.x.first().Losses.Last().Explorer; x == nil || l.x.first().Mix.Synthetic > 0 {
		t.Errorf("mix %+v, losses of the explorer %+v", l.x.first().Mix, x)
	}
}

// What an explorer needs is said where it is missing, and so is what F of the models needs.
func TestExplorersAreRefused(t *testing.T) {
	for want, change := range map[string]func(c *config.Config){
		"learner max explores for F of generated rows, and method max has none": func(c *config.Config) { onReal(c); c.Agent.Learner = "max" },
		"want a generator with generator.conditional true":                      func(c *config.Config) { c.Generator.Conditional, c.Knobs.Relevance = false, relevance.None },
		`bonus.function is "curiosity", but learner max has an agent`:           curiousReward,
		`generator.kind "vae" has no models of the dynamics`:                    func(c *config.Config) { c.Generator.Kind, c.Generator.Init = "vae", "" },
		`generator.ensemble.target is "delta" and target_scale "raw"`: func(c *config.Config) {
			own := c.Generator.Kinds.Of("ensemble").(generative.EnsembleConfig)
			own.TargetScale = generative.ScaleRaw
			c.Generator.Kinds = generative.Kinds{"ensemble": own}
		},
	} {
		c := variant("max")
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What only explores learns from generated rows: recorded data that is pinned beside them would keep it
// from learning, and is refused.
func TestAnExplorerHasNoPinnedData(t *testing.T) {
	c := withRows(t, variant("max"), config.DataPinned, recordedRows(t))
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "data.mode") {
		t.Errorf("pinned data beside an explorer: %v", err)
	}
}
