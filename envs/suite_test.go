package envs

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Every task passes the tests of this file; a new one gets them for free.

// soak says whether tests run in their long form (make soak).
func soak() bool { return os.Getenv("PGRLAB_SOAK") != "" }

func eachTask(t *testing.T, f func(t *testing.T, task Task)) {
	needPhysics(t)
	for _, task := range Tasks() {
		t.Run(task.Name, func(t *testing.T) { f(t, task) })
	}
}

func makeEnv(t testing.TB, task Task, seed uint64) *Env {
	t.Helper()
	needPhysics(t)
	e, err := task.New(seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// play takes n random actions, the same for the same source, and returns all
// observations and rewards; over episodes if need be.
func play(t testing.TB, e *Env, r *rand.Rand, n int) (history []float64) {
	t.Helper()
	action, obs := make([]float32, e.ActSize()), make([]float32, e.ObsSize())
	for range n {
		if e.sim.step == notStarted || e.sim.ended() {
			if err := e.Reset(e.sim.episode+1, obs); err != nil {
				t.Fatal(err)
			}
			history = appendWide(history, obs)
		}
		for i := range action {
			action[i] = 2*r.Float32() - 1
		}
		reward, _, _, err := e.Step(action, obs)
		if err != nil {
			t.Fatal(err)
		}
		history = append(appendWide(history, obs), reward)
	}
	return history
}

func appendWide(dst []float64, x []float32) []float64 {
	for _, v := range x {
		dst = append(dst, float64(v))
	}
	return dst
}

func TestEpisode(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		e := makeEnv(t, task, 3)
		if e.ObsSize() != task.ObsSize || e.ActSize() != task.ActSize || task.Doc == "" || task.Terminates {
			t.Errorf("sizes %d, %d, task %+v", e.ObsSize(), e.ActSize(), task)
		}
		action, obs := make([]float32, task.ActSize), make([]float32, task.ObsSize)
		if _, _, _, err := e.Step(action, obs); err == nil {
			t.Error("a step before the first reset is no error")
		}
		if err := e.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		first, varies := slices.Clone(obs), make([]bool, len(obs))
		r := rand.New(rand.NewPCG(1, 2))
		for k := 1; k <= task.EpisodeSteps; k++ {
			for i := range action {
				action[i] = 3 * (2*r.Float32() - 1) // beyond the range now and then
			}
			reward, terminated, truncated, err := e.Step(action, obs)
			if err != nil {
				t.Fatal(err)
			}
			if !(reward >= 0 && reward <= 1) {
				t.Fatalf("step %d: reward %v", k, reward)
			}
			if terminated || truncated != (k == task.EpisodeSteps) {
				t.Fatalf("step %d: terminated %v, truncated %v", k, terminated, truncated)
			}
			for i, x := range obs {
				varies[i] = varies[i] || x != first[i]
			}
		}
		if i := slices.Index(varies, false); i >= 0 {
			t.Errorf("observation %d is constant", i)
		}
		if _, _, _, err := e.Step(action, obs); err == nil || !strings.Contains(err.Error(), "reset") {
			t.Errorf("a step after the end: error %v", err)
		}
	})
}

func TestWrongActionsAreErrors(t *testing.T) {
	e := makeEnv(t, reacherHard, 0)
	obs := make([]float32, e.ObsSize())
	if err := e.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(obs)
	for _, action := range [][]float32{{0}, {0, 0, 0}, {0, float32(math.NaN())}} {
		if _, _, _, err := e.Step(action, obs); err == nil || !slices.Equal(obs, before) {
			t.Errorf("action %v: error %v, observation %v", action, err, obs)
		}
	}
	if err := e.Reset(0, obs[1:]); err == nil {
		t.Error("a short observation is no error")
	}
	if _, err := reacherHard.NewVec(0, 0); err == nil {
		t.Error("no copies are no error")
	}
}

func TestActionsAreClipped(t *testing.T) {
	a, b := makeEnv(t, cheetahRun, 0), makeEnv(t, cheetahRun, 0)
	obsA, obsB := make([]float32, 17), make([]float32, 17)
	if a.Reset(0, obsA) != nil || b.Reset(0, obsB) != nil {
		t.Fatal("reset failed")
	}
	inf := float32(math.Inf(1))
	a.Step([]float32{5, -5, inf, -inf, 0.5, 0}, obsA)
	b.Step([]float32{1, -1, 1, -1, 0.5, 0}, obsB)
	if !slices.Equal(obsA, obsB) {
		t.Errorf("clipped %v, want %v", obsA, obsB)
	}
}

func TestStartIsAFunctionOfSeedAndEpisode(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		a, b, other := makeEnv(t, task, 7), makeEnv(t, task, 7), makeEnv(t, task, 8)
		start := func(e *Env, episode uint64) []float32 {
			obs := make([]float32, task.ObsSize)
			if err := e.Reset(episode, obs); err != nil {
				t.Fatal(err)
			}
			return obs
		}
		five := start(a, 5)
		play(t, a, rand.New(rand.NewPCG(3, 4)), 50) // leaves traces in a, not in the next start
		start(b, 4)
		if again := start(a, 5); !slices.Equal(again, five) {
			t.Errorf("episode 5 starts at %v after steps, at %v before", again, five)
		}
		if twin := start(b, 5); !slices.Equal(twin, five) {
			t.Errorf("another environment starts at %v, want %v", twin, five)
		}
		if slices.Equal(start(b, 6), five) || slices.Equal(start(other, 5), five) {
			t.Error("another episode or seed has the same start")
		}
	})
}

func TestSameActionsSameHistory(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		histories := make([][]float64, 2)
		var wg sync.WaitGroup
		for i := range histories {
			e := makeEnv(t, task, 11)
			wg.Go(func() { histories[i] = play(t, e, rand.New(rand.NewPCG(5, 6)), 200) })
		}
		wg.Wait()
		if !slices.Equal(histories[0], histories[1]) {
			t.Error("two environments in parallel part")
		}
	})
}

// TestSaveAndLoad saves in the middle of an episode and lets another
// environment, itself in the middle of another one, go on: to the end of the
// episode and into the next.
func TestSaveAndLoad(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		for _, at := range []int{0, 1, 300, 950} {
			a, b := makeEnv(t, task, 21), makeEnv(t, task, 22)
			obs, again := make([]float32, task.ObsSize), make([]float32, task.ObsSize)
			if err := a.Reset(4, obs); err != nil {
				t.Fatal(err)
			}
			play(t, a, rand.New(rand.NewPCG(uint64(at), 1)), at)
			play(t, b, rand.New(rand.NewPCG(8, 8)), 30)
			var state bytes.Buffer
			if err := a.Save(&state); err != nil {
				t.Fatal(err)
			}
			if err := b.Load(&state); err != nil {
				t.Fatal(err)
			}
			a.Observation(obs)
			b.Observation(again)
			if !slices.Equal(obs, again) {
				t.Errorf("after step %d: observation %v, want %v", at, again, obs)
			}
			n := 300
			want := play(t, a, rand.New(rand.NewPCG(9, 9)), n)
			if got := play(t, b, rand.New(rand.NewPCG(9, 9)), n); !slices.Equal(got, want) {
				t.Errorf("saved at step %d: the copies part", at)
			}
		}
	})
}

func TestBadStatesAreRefused(t *testing.T) {
	e, other := makeEnv(t, reacherHard, 1), makeEnv(t, cartpoleSwingup, 1)
	var fresh, wrong bytes.Buffer
	if err := e.Save(&fresh); err != nil {
		t.Fatal(err)
	}
	if err := e.Load(bytes.NewReader(fresh.Bytes())); err != nil {
		t.Errorf("an environment before its first reset: %v", err)
	}
	play(t, e, rand.New(rand.NewPCG(1, 1)), 20)
	var state, after bytes.Buffer
	if e.Save(&state) != nil || other.Save(&wrong) != nil {
		t.Fatal("save failed")
	}
	version := slices.Clone(state.Bytes())
	version[7]++
	for name, bad := range map[string][]byte{
		"empty": nil, "cut": state.Bytes()[:state.Len()-1], "header only": state.Bytes()[:60],
		"another task": wrong.Bytes(), "another version": version,
	} {
		if err := e.Load(bytes.NewReader(bad)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := e.Save(&after); err != nil || !bytes.Equal(after.Bytes(), state.Bytes()) {
		t.Errorf("refused states changed the environment (%v)", err)
	}
}

func TestVecEnvIsManyEnvs(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		const n, episode = 5, 3
		single := make([][]float64, n)
		for i := range single {
			single[i] = vecHistory(t, task, 1, 1, episode*n+uint64(i), []int{i})
		}
		for _, workers := range []int{1, 2, 5} {
			got := vecHistory(t, task, n, workers, episode, []int{0, 1, 2, 3, 4})
			for i := range single {
				if !slices.Equal(got[i*len(got)/n:(i+1)*len(got)/n], single[i]) {
					t.Errorf("%d workers: copy %d differs from an environment alone", workers, i)
				}
			}
		}
	})
}

// vecHistory plays 20 steps on n copies, copy i with the actions of ids[i], and
// returns the histories one after the other.
func vecHistory(t *testing.T, task Task, n, workers int, episode uint64, ids []int) []float64 {
	t.Helper()
	v, err := task.newVec(n, 31, workers)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	obs, actions := make([]float32, n*task.ObsSize), make([]float32, n*task.ActSize)
	rewards, ended := make([]float64, n), make([]bool, n)
	if err := v.Reset(episode, obs); err != nil {
		t.Fatal(err)
	}
	histories := make([][]float64, n)
	for k := range 20 {
		for i := range actions {
			actions[i] = float32(math.Sin(float64(k*7 + ids[i/task.ActSize]*13 + i%task.ActSize)))
		}
		if err := v.Step(actions, obs, rewards, ended); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			histories[i] = append(appendWide(histories[i], obs[i*task.ObsSize:(i+1)*task.ObsSize]), rewards[i])
		}
	}
	return slices.Concat(histories...)
}

func TestVecEnvRests(t *testing.T) {
	needPhysics(t)
	task := reacherHard
	task.EpisodeSteps = 10
	v, err := task.newVec(3, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	obs, actions := make([]float32, 18), make([]float32, 6)
	rewards, ended := make([]float64, 3), make([]bool, 3)
	if err := v.Step(actions, obs, rewards, ended); err == nil {
		t.Error("a step before the first reset is no error")
	}
	if err := v.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	var state bytes.Buffer
	if err := v.Save(&state); err != nil {
		t.Fatal(err)
	}
	run := func() []float32 {
		for k := 1; k <= 10; k++ {
			if err := v.Step(actions, obs, rewards, ended); err != nil {
				t.Fatal(err)
			}
			if ended[0] != (k == 10) || ended[2] != (k == 10) {
				t.Fatalf("step %d: ended %v", k, ended)
			}
		}
		return slices.Clone(obs)
	}
	last := run()
	rewards[1] = 5
	if err := v.Step(actions, obs, rewards, ended); err != nil || !slices.Equal(obs, last) || rewards[1] != 0 || !ended[1] {
		t.Errorf("after the end: %v, %v, %v (%v)", obs, rewards, ended, err)
	}
	if err := v.Load(&state); err != nil {
		t.Fatal(err)
	}
	if again := run(); !slices.Equal(again, last) {
		t.Errorf("loaded copies end at %v, want %v", again, last)
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		e := makeEnv(t, task, 0)
		obs, action := make([]float32, task.ObsSize), make([]float32, task.ActSize)
		if err := e.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(20, func() { e.Step(action, obs) }); n != 0 {
			t.Errorf("%v allocations in a step", n)
		}
		v, err := task.newVec(4, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		many, actions := make([]float32, 4*task.ObsSize), make([]float32, 4*task.ActSize)
		rewards, ended := make([]float64, 4), make([]bool, 4)
		if err := v.Reset(0, many); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(20, func() { v.Step(actions, many, rewards, ended) }); n != 0 {
			t.Errorf("%v allocations in a step of four copies", n)
		}
	})
}

func TestMemoryStaysPut(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		e := makeEnv(t, task, 0)
		obs := make([]float32, task.ObsSize)
		resets := uint64(20)
		if soak() {
			resets = 100_000 / 4
		}
		if err := e.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		size := e.instance.MemorySize()
		for episode := range resets {
			if err := e.Reset(episode, obs); err != nil {
				t.Fatal(err)
			}
		}
		if soak() {
			play(t, e, rand.New(rand.NewPCG(1, 1)), 1_000_000)
		}
		if got := e.instance.MemorySize(); got != size {
			t.Errorf("memory grew from %d to %d bytes", size, got)
		}
	})
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{"cheetah-run": "cheetah-run", "Walker_walk": "walker-walk"} {
		if task, err := Find(name); err != nil || task.Name != want {
			t.Errorf("find %q: %s, %v", name, task.Name, err)
		}
	}
	for name, hint := range map[string]string{
		"cheeta-run": "did you mean cheetah-run?", "cartpole": "did you mean cartpole-swingup?",
		"walk": "there are", "": "there are",
	} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("find %q: error %v, want %q in it", name, err, hint)
		}
	}
	names := Tasks()
	if len(names) < 4 || !slices.IsSortedFunc(names, func(a, b Task) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d tasks, or not in order", len(names))
	}
}

func TestTrace(t *testing.T) {
	needPhysics(t)
	var out bytes.Buffer
	opts := TraceOptions{Task: "reacher_hard", Steps: 1002, Controls: "triangle", Seed: 5}
	if err := Trace(context.Background(), &out, opts); err != nil {
		t.Fatal(err)
	}
	e := makeEnv(t, reacherHard, 5)
	obs, action := make([]float32, 6), make([]float32, 2)
	lines := 0
	for decoder := json.NewDecoder(&out); ; lines++ {
		var line traceLine
		if err := decoder.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		var err error
		if line.Step == 0 {
			err = e.Reset(line.Episode, obs)
		} else {
			action[0], action[1] = float32(line.Action[0]), float32(line.Action[1])
			_, _, _, err = e.Step(action, obs)
		}
		if err != nil {
			t.Fatal(err)
		}
		if line.Episode != uint64(lines/1001) || line.Truncated != (line.Step == 1000) || (line.Reward == nil) != (line.Step == 0) {
			t.Fatalf("line %d: %+v", lines, line)
		}
		// Actions pass through float32 here, and the arm is not chaotic.
		if d := distance(line.Obs, appendWide(nil, obs)); d > 1e-4 {
			t.Fatalf("line %d: observation %v, want %v", lines, line.Obs, obs)
		}
	}
	if lines != 1004 {
		t.Errorf("%d lines, want 1002 steps and 2 starts", lines)
	}
	for _, opts := range []TraceOptions{{Task: "reach", Controls: "zero"}, {Task: "reacher-hard", Controls: "none"}} {
		if err := Trace(context.Background(), io.Discard, opts); err == nil {
			t.Errorf("trace %+v: no error", opts)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, task := range Tasks() {
		b.Run(task.Name, func(b *testing.B) {
			e := makeEnv(b, task, 0)
			obs, action := make([]float32, task.ObsSize), make([]float32, task.ActSize)
			r := rand.New(rand.NewPCG(1, 1))
			b.ReportAllocs()
			episode := uint64(0)
			for k := 0; b.Loop(); k++ {
				if k%task.EpisodeSteps == 0 {
					b.StopTimer()
					if err := e.Reset(episode, obs); err != nil {
						b.Fatal(err)
					}
					episode++
					b.StartTimer()
				}
				for i := range action {
					action[i] = 2*r.Float32() - 1
				}
				if _, _, _, err := e.Step(action, obs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

func BenchmarkVecStep(b *testing.B) {
	needPhysics(b)
	const n = 10
	v, err := cheetahRun.NewVec(n, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	obs, actions := make([]float32, n*17), make([]float32, n*6)
	rewards, ended := make([]float64, n), make([]bool, n)
	for k := 0; b.Loop(); k++ {
		if k%1000 == 0 {
			b.StopTimer()
			if err := v.Reset(uint64(k), obs); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		if err := v.Step(actions, obs, rewards, ended); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
