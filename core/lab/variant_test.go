package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent/sac"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
	"pgrlab/core/testing/racing"
)

// variants are the methods that differ from SAC, REDQ, SynthER and PGR by a part.
var variants = map[string]func(c *config.Config){
	"redq-curiosity": func(c *config.Config) { onReal(c); curiousReward(c) },
	"synther-curiosity": func(c *config.Config) {
		c.Generator.Conditional, c.Knobs.Relevance = false, relevance.None
		curiousReward(c)
	},
	"per-td":        func(c *config.Config) { onReal(c); c.Replay.Priority = config.PriorityTD },
	"per-curiosity": func(c *config.Config) { onReal(c); c.Replay.Priority = "curiosity" },
	"redq-rnd": func(c *config.Config) { // another bonus, and priorities by a second model beside it
		onReal(c)
		c.Bonus, c.Replay.Priority = config.Bonus{Function: "rnd", Scale: config.ScalePaper}, "curiosity"
	},
	"noisynets":     func(c *config.Config) { onReal(c); c.Agent.Exploration = sac.ExploreNoisy },
	"pgr-noisynets": func(c *config.Config) { c.Agent.Exploration = sac.ExploreNoisy },
	"bootdqn":       func(c *config.Config) { onReal(c); c.Agent.Exploration = sac.ExploreBootstrap },
	"pgr-bootdqn":   func(c *config.Config) { c.Agent.Critics, c.Agent.Exploration = 4, sac.ExploreBootstrap },
	"heads": func(c *config.Config) {
		c.Generator.Head = generative.HeadConfig{Kind: generative.HeadTransition, Width: 8, Layers: 1, Batch: 8}
	},
	"mbpo": func(c *config.Config) {
		rolled(c)
		c.Generator.Conditional, c.Knobs.Relevance = false, relevance.None
	},
	"mbpo-curiosity": rolled,
	"mbpo-noised":    func(c *config.Config) { rolled(c); c.Generator.NoiseShare, c.Generator.NoiseStd = 0.2, 0.2 },
	"max":            explored,
	"pairs": func(c *config.Config) {
		c.Generator.Vector, c.Generator.ModelTerminals = generative.VectorPair, true
		c.Generator.Head = generative.HeadConfig{Kind: generative.HeadTransition, Width: 8, Layers: 1, Batch: 8}
	},
	"new actions": func(c *config.Config) { // of generated states, with predicted outcomes
		c.Generator.Vector, c.Generator.Actions = generative.VectorPair, generative.ActionsPolicy
		c.Generator.Head = generative.HeadConfig{Kind: generative.HeadTransition, Width: 8, Layers: 1, Batch: 8}
	},
	"true outcomes": func(c *config.Config) { // of real states and new actions
		c.Generator.Kind, c.Generator.Actions, c.Generator.Outcomes = "resample", generative.ActionsPolicy, generative.OutcomesSimulator
	},
	"predicted outcomes": func(c *config.Config) { // of real states and actions
		c.Generator.Kind = "resample"
		c.Generator.Head = generative.HeadConfig{Kind: generative.HeadTransition, Width: 8, Layers: 1, Batch: 8}
	},
}

func onReal(c *config.Config) {
	c.Generator.Kind, c.Generator.Conditional, c.Knobs.Relevance, c.Knobs.Ratio = config.GeneratorNone, false, relevance.None, 0
	c.Agent.Critics = 4
}

// rolled makes D_syn of rollouts, and keeps two generations.
func rolled(c *config.Config) {
	c.Generator.Kind, c.Generator.Init, c.Generator.Retain = "ensemble", generative.InitPrevious, 2
	c.Agent.PolicyQ, c.Agent.PolicyDelay, c.Knobs.Horizon = sac.PolicyMin, 1, 3
}

// explored has MAX's two agents, on rollouts of the explorer.
func explored(c *config.Config) {
	rolled(c)
	own := c.Generator.Kinds.Of("ensemble").(generative.EnsembleConfig)
	own.TargetScale = generative.ScaleEach
	c.Generator.Kinds = generative.Kinds{"ensemble": own}
	c.Agent.Learner, c.Agent.Critics, c.Agent.PolicyQ, c.Agent.PolicyDelay = "max", 3, sac.PolicyMean, 2
	c.Knobs.Relevance, c.Knobs.TopFraction = "ensemble", 1
}

func curiousReward(c *config.Config) {
	c.Bonus = config.Bonus{Function: "curiosity", Scale: config.ScaleReturns}
}

func variant(method string) config.Config {
	c := realConfig()
	c.Method = method
	c.Agent.NoisySigma, c.Agent.Candidates = 0.5, 5
	c.Knobs.Bonus = 0.1
	variants[method](&c)
	return c
}

// settableEnv can be set to a state, from which all follows.
type settableEnv struct{ worldEnv }

func (e *settableEnv) Place(obs []float32) error {
	e.episode, e.t, e.now = 0, int(obs[1]), slices.Clone(obs)
	return nil
}

// worldOf is the task of a run, which can be set to a state if the run asks for that.
func worldOf(c *config.Config) task.Task {
	world := newWorld().task()
	if !c.TrueOutcomes() {
		return world
	}
	world.New = func(seed uint64) (task.Env, error) {
		return &settableEnv{worldEnv{w: newWorld(), seed: seed}}, nil
	}
	return world
}

// turns returns changes of all knobs that a run uses, spread over four env steps that are two
// apart, and the knobs that it does not use.
func turns(c *config.Config) (schedule []string, refused []knob.Knob) {
	for i, k := range knob.All() {
		if c.Uses(k) != nil {
			refused = append(refused, k)
			continue
		}
		v, _ := c.Knobs.Get(k.Name)
		to := k.Next(v, 1)
		if to == v {
			to = k.Next(v, -1)
		}
		schedule = append(schedule, fmt.Sprintf("%d:%s=%s", 10+i%4*2, k.Name, to))
	}
	return schedule, refused
}

// Every knob that the method uses is turned during the run; the number of workers makes no
// difference.
func TestVariantsWithEveryKnobTurned(t *testing.T) {
	racing.Skip(t)
	for method := range variants {
		c := variant(method)
		var refused []knob.Knob
		c.Schedule, refused = turns(&c)
		l, first := realRun(t, c, 1)
		_, second := realRun(t, c, 2)
		if first != second {
			t.Errorf("%s: one worker writes\n%s\ntwo write\n%s", method, first, second)
		}
		refits, _ := bodies[event.Refit](l)
		for _, r := range refits {
			if rolls := c.Generator.Kind == "ensemble"; (r.Rollouts != nil) != rolls || (r.Ensemble != nil) != (rolls && r.Steps > 0) {
				t.Errorf("%s: %+v", method, r)
			} else if rolls && r.Steps > 0 && (r.Rollouts.Horizon < 1 || r.Rollouts.Rows+r.Rollouts.Dropped < r.Rollouts.Begun || len(r.Ensemble.HeldOut) != 3 || len(r.Ensemble.Elites) != 2) {
				t.Errorf("%s: %+v, %+v", method, r.Rollouts, r.Ensemble)
			}
		}
		changed, _ := bodies[event.KnobChanged](l)
		if r, _ := bodies[event.Refused](l); len(changed) != len(c.Schedule) || len(r) > 0 {
			t.Errorf("%s: %d of %d changes were made, refused: %+v", method, len(changed), len(c.Schedule), r)
		}
		for _, k := range refused {
			v, _ := c.Knobs.Get(k.Name)
			c.Schedule = []string{"10:" + k.Name + "=" + v.String()}
			want := k.Name + ": not used by " + method
			if err := validSchedule(c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s…", method, err, want)
			}
		}
	}
}

// validSchedule returns newLab's error for a configuration.
func validSchedule(c config.Config) error {
	l, err := newLab(c, newWorld().task(), nil, newWorld().parts(), "test", clock())
	if l != nil {
		l.Close()
	}
	return err
}

// A part whose Save forgets something fails here.
func TestVariantsGoOnFromEveryBorder(t *testing.T) {
	dev := testDevice(t)
	for method := range variants {
		c := variant(method)
		c.Schedule, _ = turns(&c)
		nth := 1
		if c.Generates() {
			nth = 5
		}
		resumeEverywhere(t, nth, func(r record) *Lab {
			p, err := newParts(&c, worldOf(&c), dev)
			if err != nil {
				t.Fatal(err)
			}
			l, err := newLab(c, worldOf(&c), r, p, dev.Name(), clock())
			if err != nil {
				t.Fatal(err)
			}
			return l
		})
	}
}

// The agent learns from rewards with the bonus; stored and scored rewards are without it. The line
// says how large it was.
func TestBonusesStayInTheBatch(t *testing.T) {
	c := variant("synther-curiosity")
	c.Knobs.Bonus = 5
	l, journal := realRun(t, c, 1)
	for i := range l.x.first().Real.Len() {
		row := l.x.first().Real.Row(i)
		if reward, next := row[worldObs+worldAct], row[worldObs+worldAct+1]; reward != next {
			t.Fatalf("transition %d is stored with reward %v, the world gave %v", i, reward, next)
		}
	}
	lines, _ := bodies[event.Losses](l)
	if len(lines) == 0 || lines[0].Bonus == nil || !(*lines[0].Bonus > 0) {
		t.Errorf("no bonus in %+v", lines)
	}
	c.Knobs.Bonus = 0
	without, _ := realRun(t, c, 1)
	if lines, _ := bodies[event.Losses](without); lines[0].Bonus != nil {
		t.Errorf("a bonus of %v without strength", *lines[0].Bonus)
	}
	if strings.Count(journal, `"type":"evaluated"`) != 2 {
		t.Error("no evaluations")
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		`replay.priority is "td" with synthetic transitions, which have no priorities`: func(c *config.Config) { c.Replay.Priority = config.PriorityTD },
		`replay.priority is "luck"`: func(c *config.Config) { onReal(c); c.Replay.Priority = "luck" },
		`bonus.function is "td"`:    func(c *config.Config) { c.Bonus.Function = "td" },
		`bonus.scale is "big"`:      func(c *config.Config) { c.Bonus = config.Bonus{Function: "curiosity", Scale: "big"} },
		"bonus: -1 is out of range": func(c *config.Config) { c.Knobs.Bonus = -1 },
		"curiosity.every is -1": func(c *config.Config) {
			onReal(c)
			curiousReward(c)
			changeICM(c, func(i *relevance.ICMConfig) { i.Every = -1 })
		},
		"samples: 2,000 do not fit: D_syn has room": func(c *config.Config) { c.Knobs.Samples = 2000 },
		`generator.init is "previous", but a vae`:   func(c *config.Config) { c.Generator.Kind, c.Generator.Init = "vae", "previous" },
		"has no conditional generator":              func(c *config.Config) { onReal(c); c.Knobs.Relevance = "td" },
	} {
		c := newWorld().config()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
