package envs

import (
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
		if _, _, _, err := e.Step(action, obs); err == nil || !strings.Contains(err.Error(), "reset") {
			t.Errorf("a step after the end: error %v", err)
		}
		// What rests in one episode, such as a target or an untouched sensor, moves
		// in one of the next.
		for n := 0; n < 5*task.EpisodeSteps && slices.Contains(varies, false); n++ {
			history := play(t, e, r, 1)
			for i := range varies {
				varies[i] = varies[i] || float32(history[i]) != first[i]
			}
		}
		if i := slices.Index(varies, false); i >= 0 {
			t.Errorf("observation %d is constant", i)
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
		"cheeta-run": "there are", "cartpole": "cartpole-swingup", "": "there are",
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
