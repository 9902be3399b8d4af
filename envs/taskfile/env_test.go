package taskfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgrlab/envs"
)

// A state that is saved late in a long episode goes on bit for bit, with the goal that the start has
// chosen, with activations, and with what formulas know of the step before.
func TestStatesAreWhole(t *testing.T) {
	file := pole(t,
		[3]string{"pole.xml", "<worldbody>", `<worldbody><body name="goal" mocap="true"><site name="goal"/></body>`},
		[3]string{"pole.xml", "<motor ", `<general dyntype="filter" dynprm=".1" `},
		[3]string{"pole.toml", "episode_steps = 500", "episode_steps = 3000"},
		[3]string{"pole.toml", `"qvel"]`, `"qvel - prev.qvel", 'site("goal")', "act", "time", "step", 'subtree_vel("pole")']`},
		[3]string{"pole.toml", `terminate = "abs(qpos[0]) > 1.75"`, ``},
		[3]string{"pole.toml", "[reset]", "[reset]\nmocap_pos = \"uniform(-1, 1)\"\nsettle = 3"},
	)
	task, err := load(t, file).Task.With(2)
	if err != nil {
		t.Fatal(err)
	}
	makeEnv := func() *envs.Env {
		e, err := task.New(5)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	one, other := makeEnv(), makeEnv()
	obs, again := make([]float32, task.ObsSize), make([]float32, task.ObsSize)
	step := func(e *envs.Env, i int, obs []float32) (float64, bool) {
		t.Helper()
		r, _, truncated, err := e.Step([]float32{float32(i%7)/3 - 1}, obs)
		if err != nil {
			t.Fatal(err)
		}
		return r, truncated
	}
	if err := one.Reset(2, obs); err != nil {
		t.Fatal(err)
	}
	goal := slices.Clone(obs[5:8])
	for i := range 1200 {
		step(one, i, obs)
	}
	var state bytes.Buffer
	if err := errors.Join(one.Save(&state), other.Reset(0, again), other.Load(&state)); err != nil {
		t.Fatal(err)
	}
	for i := 1200; i < 1500; i++ {
		r, ended := step(one, i, obs)
		if s, over := step(other, i, again); r != s || ended != over || ended != (i == 1499) || !slices.Equal(obs, again) {
			t.Fatalf("step %d: %v %v, and after loading %v %v", i, obs, r, again, s)
		}
	}
	if !slices.Equal(obs[5:8], goal) || goal[0] == 0 || obs[10] != 3000 || obs[9] != float32(3000*.01) {
		t.Errorf("goal %v, at the end %v", goal, obs)
	}
}

// The words of a line of a trace: a formula sees the state that the line shows.
func TestFormulasSeeTheState(t *testing.T) {
	f := load(t, pole(t, [3]string{"pole.toml", `"qvel"]`, `"qvel", "ctrl", "prev.qpos", "qpos0 + 1", 'xpos("cart")', 'geom("floor")', "qacc"]`}))
	var before []float64
	for _, text := range strings.Split(strings.TrimSpace(trace(t, f, 50)), "\n") {
		var line struct {
			Step                    int
			Obs, Action, QPos, QVel []float64
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		o := line.Obs
		switch {
		case line.Step == 0 && (o[0] != line.QPos[0] || !slices.Equal(o[3:5], line.QVel) || !slices.Equal(o[6:8], line.QPos)):
			t.Fatalf("%s", text)
		case line.Step > 0 && (o[5] != line.Action[0] || o[6] != before[0]):
			t.Fatalf("%s after %v", text, before)
		case o[8] != 1 || o[10] != o[0] || o[12] != 1 || o[13] != 0 || line.Step > 0 && o[16] == 0:
			t.Fatalf("%s", text)
		}
		before = o
	}
}

// Copies that are stepped together, in several goroutines, do as copies alone.
func TestCopiesTogether(t *testing.T) {
	task := load(t, pole(t, [3]string{"pole.toml", `"qvel"]`, `"qvel - prev.qvel"]`})).Task
	const copies = 6
	all, err := task.NewVec(copies, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	one, err := task.New(4)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	obs, actions, rewards, ended := make([]float32, copies*task.ObsSize), make([]float32, copies), make([]float64, copies), make([]bool, copies)
	var seen [copies][]float32
	if err := all.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	for step := range 40 {
		for i := range copies {
			seen[i] = append(seen[i], obs[i*task.ObsSize:(i+1)*task.ObsSize]...)
			actions[i] = float32((step+i)%5)/2 - 1
		}
		if err := all.Step(actions, obs, rewards, ended); err != nil {
			t.Fatal(err)
		}
	}
	for i := range copies {
		var alone []float32
		own := make([]float32, task.ObsSize)
		err := one.Reset(uint64(i), own)
		for step := 0; step < 40 && err == nil; step++ {
			alone = append(alone, own...)
			_, _, _, err = one.Step([]float32{float32((step+i)%5)/2 - 1}, own)
		}
		if err != nil || !slices.Equal(alone, seen[i]) {
			t.Errorf("copy %d differs, %v", i, err)
		}
	}
}

// The controls before a step are those of the step before, and 0 at the beginning of an episode.
func TestControlsOfTheStepBefore(t *testing.T) {
	task := load(t, pole(t, [3]string{"pole.toml", `"qvel"]`, `"ctrl", "prev.ctrl"]`})).Task
	env, err := task.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	obs, before := make([]float32, task.ObsSize), float32(0)
	if err := env.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	for _, a := range []float32{1, -.5, .25} {
		if _, _, _, err := env.Step([]float32{a}, obs); err != nil || obs[len(obs)-2] != a || obs[len(obs)-1] != before {
			t.Fatalf("%v, %v: want ctrl %v, prev.ctrl %v", obs, err, a, before)
		}
		before = a
	}
}

// What formulas know of the step before is saved where a restored state lacks it: accelerations and, in
// Gym's order of a step, places.
func TestWhatWasBeforeIsSaved(t *testing.T) {
	for order, text := range map[string]string{"suite": `"qacc - prev.qacc"]`, "gym": `'site("tip") - prev.site("tip")']`} {
		task := load(t, pole(t, [3]string{"pole.toml", `"qvel"]`, text},
			[3]string{"pole.toml", "episode_steps = 500", "order = \"" + order + "\"\nepisode_steps = 500"})).Task
		one, err := task.New(5)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		other, err := task.New(5)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		obs, again := make([]float32, task.ObsSize), make([]float32, task.ObsSize)
		if err := one.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if _, _, _, err := one.Step([]float32{.7}, obs); err != nil {
				t.Fatal(err)
			}
		}
		var state bytes.Buffer
		if err := errors.Join(one.Save(&state), other.Load(&state)); err != nil {
			t.Fatal(err)
		}
		for _, a := range []float32{-.3, .5, 0} {
			_, _, _, err1 := one.Step([]float32{a}, obs)
			_, _, _, err2 := other.Step([]float32{a}, again)
			if err := errors.Join(err1, err2); err != nil || !slices.Equal(obs, again) {
				t.Fatalf("%s: %v, after loading %v, %v", order, obs, again, err)
			}
		}
	}
}

// The formulas of [reset] see the reference state with all that follows from it, in either order of a step.
func TestResetSeesTheReferenceState(t *testing.T) {
	for _, order := range []string{"suite", "gym"} {
		task := load(t, pole(t,
			[3]string{"pole.toml", "episode_steps = 500", "order = \"" + order + "\"\nepisode_steps = 500"},
			[3]string{"pole.toml", `qvel = "uniform(-0.01, 0.01)"`, `qvel = 'site("tip")[2]'`})).Task
		env, err := task.New(1)
		if err != nil {
			t.Fatal(err)
		}
		obs := make([]float32, task.ObsSize)
		if err := env.Reset(0, obs); err != nil || obs[3] != 2 || obs[4] != 2 {
			t.Errorf("%s: %v, %v: want velocities of 2", order, obs, err)
		}
		env.Close()
	}
}
