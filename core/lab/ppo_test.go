package lab

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
	"pgrlab/envs/maze"
)

// mazeTask returns a maze with a TV and a bonus for new places.
func mazeTask(t *testing.T) task.Task {
	t.Helper()
	m, _ := maze.Find("maze-sparse")
	m, err := m.With(maze.Options{TV: "noise", CellBonus: 0.125})
	if err != nil {
		t.Fatal(err)
	}
	return task.Task{
		Name: m.Name, ObsSize: maze.ObsSize, ActSize: maze.ActSize, Discrete: true, Seen: true,
		EpisodeSteps: 100, // evaluations play only that much of an episode
		New:          func(seed uint64) (task.Env, error) { return m.New(maze.Training, seed), nil },
		NewVec:       func(n int, seed uint64) (task.VecEnv, error) { return m.NewVec(n, maze.Test, seed) },
	}
}

// ppoConfig is a run of PPO in three copies of a maze, with a bonus from a model that learns during
// the run.
func ppoConfig(function string) config.Config {
	c := withCopies(tiny.Config(), 3)
	withoutGenerator(&c)
	c.Task, c.Method, c.StartSteps = "maze-sparse", "ppo-"+function, 0
	c.Agent.Learner = "ppo"
	own := ppo.DefaultSettings
	own.Steps, own.Epochs, own.Minibatches, own.Anneal = 8, 2, 3, 1
	c.Agent.Own = agent.Own{"ppo": own}
	c.Bonus, c.Knobs.Bonus = config.Bonus{Function: function, Scale: config.ScaleReturns}, 0.25
	if function == "eco" { // a round follows every eighth env step
		e := relevance.DefaultECO()
		e.Hidden, e.Features, e.Comparator, e.Entries, e.Near, e.Far, e.History, e.Batch, e.Epochs = []int{8}, 4, []int{4}, 3, 1, 2, 24, 2, 2
		c.Relevance = c.Relevance.With("eco", e)
		c.Bonus.Scale = config.ScalePaper
	}
	c.Evaluation.Actions, c.Evaluation.Every = config.ActionsSample, 17
	c.Schedule = []string{"8/learn:2:lr_actor=0.001", "8/learn:3:entropy=0.02", "11:tv=noise-action", "16:bonus=0.5"}
	return c
}

// ppoOfFrames is a run of PPO that sees frames.
func ppoOfFrames() config.Config {
	c := ppoConfig(config.FunctionNone)
	c.Environment.Observation, c.Schedule = task.ObservationPixels, c.Schedule[:3]
	c.Pixels = agent.DefaultPixels
	c.Pixels.Side, c.Pixels.Stack, c.Pixels.Pad, c.Pixels.Strides = 12, 1, 0, []int{1}
	own := c.Agent.Own["ppo"].(ppo.Settings)
	own.Kernels, own.Strides, own.Channels = []int{4, 2}, []int{3, 1}, []int{3, 4}
	c.Agent.Own = agent.Own{"ppo": own}
	return c
}

func withCopies(c config.Config, n int) config.Config {
	c.Environment.Copies = n
	return c
}

// A run from frames is the same with one worker and with two, and depends on its frames: with a TV
// it goes differently.
func TestPPOOfFramesOnTwoWorkers(t *testing.T) {
	journal := func(threads int, mazes task.Task) string {
		folder := &memoryFolder{}
		l := framesLabOf(t, ppoOfFrames(), mazes, threads, folder)
		defer l.Close()
		if err := l.x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return folder.canonical(t)
	}
	one := journal(1, mazeTask(t))
	if !strings.Contains(one, `"explored":{"goals":`) {
		t.Error("evaluations do not say how the mazes were explored")
	}
	if journal(2, mazeTask(t)) != one {
		t.Error("the journals differ")
	}
	blind := mazeTask(t)
	m, _ := maze.Find("maze-sparse")
	m, _ = m.With(maze.Options{CellBonus: 0.125})
	blind.New = func(seed uint64) (task.Env, error) { return m.New(maze.Training, seed), nil }
	if journal(1, blind) == one {
		t.Error("a TV in what is seen changes nothing")
	}
}

// Entropy and TV can be turned during a run and change it; learners that act with numbers have
// neither.
func TestEntropyAndTVAreTurnedInMidRun(t *testing.T) {
	journal := func(schedule ...string) string {
		c := ppoConfig(config.FunctionNone)
		c.Schedule, c.Knobs.TV = schedule, "noise"
		mazes, folder, dev := mazeTask(t), &memoryFolder{}, tiny.Device(t)
		c = inEnvSteps(c)
		p, err := newParts(&c, mazes, dev)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLab(c, mazes, folder, p, dev.Name(), clock())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return folder.canonical(t)
	}
	results := func(text string) []string {
		return slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool {
			return !strings.Contains(line, `"type":"evaluated"`) && !strings.Contains(line, `"type":"losses"`)
		})
	}
	plain := journal()
	for _, change := range []string{"8/learn:1:entropy=0.5", "9:tv=off"} {
		turned := results(journal(change))
		if slices.Equal(turned, results(plain)) {
			t.Errorf("%s changes nothing", change)
		}
	}
	if !slices.Equal(knob.TVs(), maze.TVs) {
		t.Errorf("the knob has %q, mazes %q", knob.TVs(), maze.TVs)
	}
	plainConfig := tiny.Config()
	for _, name := range []string{"entropy", "tv"} {
		k, _ := knob.Find(name)
		if plainConfig.Uses(k) == nil {
			t.Errorf("sac uses %s", name)
		}
	}
}

// Changes of the TV, of the entropy's weight and of the bonus carry where they were made and what they
// wait for, and are in force with the first update that they change: that of the rollout whose env steps
// met TV and bonus, or the next minibatch.
func TestLiveChangesInMazesAreStamped(t *testing.T) {
	c := ppoConfig("rnd")
	c.Schedule = []string{"10:tv=off", "11:bonus=0.5", "8/learn:2:entropy=0.02"}
	c.Knobs.TV = "noise"
	l := ppoLatentLab(t, c, 1, &memoryFolder{})
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes, _ := bodies[event.KnobChanged](l)
	forces, at := bodies[event.InForce](l)
	made, inForce := map[string]knob.Position{}, map[string]int{}
	for _, k := range changes {
		if made[k.Knob] = k.Position; k.Class != knob.ClassBatch {
			t.Errorf("%s is of class %s", k.Knob, k.Class)
		}
	}
	for i, f := range forces {
		inForce[f.Knob] = at[i]
	}
	for name, want := range map[string]struct {
		made    knob.Position
		inForce int
	}{"tv": {knob.After(3 * 10), 3 * 16}, "bonus": {knob.After(3 * 11), 3 * 16}, "entropy": {knob.At(3*8, knob.Learn, 2), 3 * 8}} {
		if made[name] != want.made || inForce[name] != want.inForce {
			t.Errorf("%s is set at %s and in force at step %d, want %s and %d", name, made[name], inForce[name], want.made, want.inForce)
		}
	}
}

// The action shown for an env step in several copies is that of the first copy, whose maze is
// drawn.
func TestTheShownActionIsOfTheFirstCopy(t *testing.T) {
	c, mazes := ppoConfig("rnd"), mazeTask(t)
	c.Steps = 3
	dev := tiny.Device(t)
	c = inEnvSteps(c)
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
	all, shown := l.x.first().World.Action, l.x.asides.moment.Action
	if len(all) != 3*maze.ActSize || !slices.Equal(shown, all[:maze.ActSize]) {
		t.Errorf("of %v it shows %v", all, shown)
	}
	sum := float32(0)
	for _, chance := range l.x.asides.moment.Chances {
		sum += chance
	}
	if m := l.x.asides.moment; len(m.Chances) != maze.ActSize || sum < 0.999 || sum > 1.001 || math.IsNaN(m.V) {
		t.Errorf("chances %v, V %g", m.Chances, m.V)
	}
}

// A run whose rates fall over its length cannot be made longer.
func TestPPOFollowsTheLengthOfItsRun(t *testing.T) {
	c := ppoConfig("rnd")
	if _, err := c.Longer(100); err == nil || err.Error() != "rate and ε of PPO (agent.ppo.anneal) follow its length of 26 steps" {
		t.Errorf("%v", err)
	}
	own := c.Agent.Own["ppo"].(ppo.Settings)
	own.Anneal = 0
	c.Agent.Own["ppo"] = own
	if longer, err := c.Longer(100); err != nil || longer.Steps != 102 { // 34 env steps of three copies
		t.Errorf("%d steps, %v", longer.Steps, err)
	}
}

// Learners that act with numbers are refused mazes in one line, before anything is built.
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
