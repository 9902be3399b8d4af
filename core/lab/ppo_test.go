package lab

import (
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
	"pgrlab/envs/maze"
)

// mazeTask is a maze with a TV and a bonus for new places.
func mazeTask(t *testing.T) task.Task {
	t.Helper()
	m, _ := maze.Find("maze-sparse")
	m, err := m.With(maze.Options{TV: "noise", CellBonus: 0.125})
	if err != nil {
		t.Fatal(err)
	}
	return task.Task{
		Name: m.Name, ObsSize: maze.ObsSize, ActSize: maze.ActSize, Discrete: true,
		EpisodeSteps: 100, // all that is evaluated of an episode
		New:          func(seed uint64) (task.Env, error) { return m.New(maze.Training, seed), nil },
		NewVec:       func(n int, seed uint64) (task.VecEnv, error) { return m.NewVec(n, maze.Test, seed) },
	}
}

// ppoConfig is a run of PPO in three copies of a maze, with a bonus of a model that learns beside
// it.
func ppoConfig(function string) config.Config {
	c := withCopies(tiny.Config(), 3)
	withoutGenerator(&c)
	c.Task, c.Method, c.StartSteps = "maze-sparse", "ppo-"+function, 0
	c.Agent.Learner = "ppo"
	own := ppo.DefaultSettings
	own.Steps, own.Epochs, own.Minibatches, own.Anneal = 8, 2, 3, 1
	c.Agent.Own = agent.Own{"ppo": own}
	c.Bonus, c.Knobs.Bonus = config.Bonus{Function: function, Scale: config.ScaleReturns}, 0.25
	c.Evaluation.Actions, c.Evaluation.Every = config.ActionsSample, 17
	c.Schedule = []string{"8/learn:2:lr_actor=0.001", "16:bonus=0.5"}
	return c
}

func withCopies(c config.Config, n int) config.Config {
	c.Environment.Copies = n
	return c
}

// PPO in mazes goes on from the middle of a rollout, of an iteration and of an evaluation as if
// it had not stopped, with a bonus whose model learns beside it.
func TestPPOInMazesGoesOnFromEveryBorder(t *testing.T) {
	dev := tiny.Device(t)
	for _, function := range []string{"rnd", "curiosity"} {
		phases := resumeEverywhere(t, 1, func(r record) *Lab {
			c, mazes := ppoConfig(function), mazeTask(t)
			p, err := newParts(&c, mazes, dev)
			if err != nil {
				t.Fatal(err)
			}
			l, err := newLab(c, mazes, r, p, dev.Name(), clock())
			if err != nil {
				t.Fatal(err)
			}
			return l
		})
		for _, phase := range []knob.Phase{knob.AfterStep, knob.Learn, knob.Evaluate} {
			if phases[phase] == 0 {
				t.Errorf("%s: no border in phase %s: %v", function, phase, phases)
			}
		}
	}
}

// What is shown of an env step in several copies is the action of the first one, whose maze is
// drawn.
func TestTheShownActionIsOfTheFirstCopy(t *testing.T) {
	c, mazes := ppoConfig("rnd"), mazeTask(t)
	c.Steps = 3
	dev := tiny.Device(t)
	p, err := newParts(&c, mazes, dev)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLab(c, mazes, nil, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.x.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.x.asides.showMoment()
	all, shown := l.x.first().Action, l.x.asides.moment.Action
	if len(all) != 3*maze.ActSize || !slices.Equal(shown, all[:maze.ActSize]) {
		t.Errorf("of %v it shows %v", all, shown)
	}
}

// A run whose rates fall over its length is not made longer.
func TestPPOFollowsTheLengthOfItsRun(t *testing.T) {
	c := ppoConfig("rnd")
	if _, err := c.Longer(100); err == nil || err.Error() != "rate and ε of PPO (agent.ppo.anneal) follow its length of 26 steps" {
		t.Errorf("%v", err)
	}
	own := c.Agent.Own["ppo"].(ppo.Settings)
	own.Anneal = 0
	c.Agent.Own["ppo"] = own
	if longer, err := c.Longer(100); err != nil || longer.Steps != 100 {
		t.Errorf("%d steps, %v", longer.Steps, err)
	}
}

// Learners of numbers are refused mazes before anything is built, in a line.
func TestMazesWantChoices(t *testing.T) {
	c := tiny.Config()
	withoutGenerator(&c)
	c.Knobs.Relevance = relevance.None
	_, err := newParts(&c, mazeTask(t), tiny.Device(t))
	want := "configuration: learner sac of method sac acts with numbers, and an agent in task maze-sparse chooses among actions: choose another task, or a method with another learner: ppo"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
