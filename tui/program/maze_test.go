package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/envs/maze"
)

// tinyMaze is a run of PPO with episodic curiosity that takes a second, in four copies of a maze with
// a TV. The R-network has a round of learning after every eighth of it.
const tinyMaze = `
task = "maze-sparse"
method = "ppo-eco"
scale = "demo"
steps = 24_576

[environment]
copies = 4

[knobs]
tv = "noise"

[evaluation]
every = 8_192
episodes = 1
dormant_states = 16

[agent]
hidden = [16, 16]

[agent.ppo]
steps = 64
epochs = 2
minibatches = 2

[eco]
features = 8
comparator = [16]
history = 3_072
epochs = 1
batch = 16
`

// Agents learn in the mazes of the training split and are evaluated in those of the other one, with the
// TV that was asked for. What a maze cannot be is refused in one line.
func TestMazesAreSplit(t *testing.T) {
	for _, m := range maze.Tasks() {
		of := mazeOf(m)
		first := func(reset func(uint64, []float32) error) []float32 {
			t.Helper()
			obs := make([]float32, of.ObsSize)
			if err := reset(3, obs); err != nil {
				t.Fatal(err)
			}
			return obs
		}
		env, err := of.New(7)
		if err != nil {
			t.Fatal(err)
		}
		tests, err := of.NewVec(1, 7)
		if err != nil {
			t.Fatal(err)
		}
		learned, judged := first(env.Reset), first(tests.Reset)
		train, test := first(m.New(maze.Training, 7).Reset), first(m.New(maze.Test, 7).Reset)
		if slices.Equal(train, test) {
			t.Fatalf("%s: the two splits have the same maze", m.Name)
		}
		if !slices.Equal(learned, train) || !slices.Equal(judged, test) {
			t.Errorf("%s: learns in the training split: %v, is judged in the other: %v", m.Name, slices.Equal(learned, train), slices.Equal(judged, test))
		}
		noisy, err := of.With(task.Environment{TV: "noise"})
		if err != nil {
			t.Fatal(err)
		}
		if env, err = noisy.New(7); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(first(env.Reset), train) {
			t.Errorf("%s: a TV shows nothing", m.Name)
		}
		for _, e := range []task.Environment{{ActionRepeat: 2}, {TV: "snow"}} {
			if _, err := of.With(e); err == nil {
				t.Errorf("%s: %+v is taken", m.Name, e)
			}
		}
	}
}

// A person looks at a run in a maze, sees what its episode remembers, switches the TV off, pauses the
// run and leaves. The run waits, goes on, and is saved when it is stopped.
func TestAScreenOnAMaze(t *testing.T) {
	r := startTrainingOf(t, tinyMaze)
	r.goesOnAfter(event.TypeEvaluated) // the R-network has learned by then
	said, err := r.visit("maria",
		press{"RETURN", "v"},
		press{"similar", "v"},
		press{"RETURN", ":"},
		press{"COMMAND", "tv=off"},
		press{"tv=off", "\r"},
		press{"TOUCHED", "p"}, // stays, while events come and go
		press{"PAUSED", "q"},
		press{"leave it training", "d"})
	if err != nil || !strings.Contains(said, "training goes on") {
		t.Fatalf("%q, %v", said, err)
	}
	if s := r.look(); s.State != "paused" || s.Screens != 0 {
		t.Errorf("%+v", s)
	}
	from := r.look().Step
	if said := r.ask("resume"); !strings.Contains(said, "resumed at step") {
		t.Error(said)
	}
	r.until("a step after the pause", func() bool { return r.look().Step > from })
	r.stop()
	journal, err := os.ReadFile(filepath.Join(r.dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"knob":"tv","from":"noise","to":"off"`, `"accuracy":`, `"explored":`} {
		if !strings.Contains(string(journal), want) {
			t.Errorf("the journal lacks %s:\n%s", want, journal)
		}
	}
	if n := types(t, r.dir); n[event.TypeAttached] != 1 || n[event.TypeDetached] != 1 || n[event.TypeInForce] != 1 {
		t.Errorf("%v", n)
	}
	if found, _ := filepath.Glob(filepath.Join(r.dir, "checkpoints", "*.ckpt")); len(found) == 0 {
		t.Error("no checkpoint")
	}
}
