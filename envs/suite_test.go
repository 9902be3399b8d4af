package envs

import (
	"errors"
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

// play takes n random actions, which depend only on the source, and returns all observations and
// rewards, over several episodes if need be.
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

// TestEpisode plays whole episodes with two kinds of actions: random ones, and full ones that
// change their signs now and then.
func TestEpisode(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		if task.EpisodeSteps != 1000 || task.Doc == "" {
			t.Errorf("episodes of %d steps, doc %q", task.EpisodeSteps, task.Doc)
		}
		if !soak() {
			task.EpisodeSteps = 250
		}
		e := makeEnv(t, task, 3)
		if e.ObsSize() != task.ObsSize || e.ActSize() != task.ActSize {
			t.Errorf("sizes %d, %d, task %+v", e.ObsSize(), e.ActSize(), task)
		}
		if _, _, _, err := e.Step(make([]float32, task.ActSize), make([]float32, task.ObsSize)); err == nil {
			t.Error("a step before the first reset is no error")
		}
		seen := &spread{low: make([]float32, task.ObsSize), high: make([]float32, task.ObsSize)}
		r := rand.New(rand.NewPCG(1, 2))
		episodes := uint64(1)
		if soak() {
			episodes = 10
		}
		for episode := range episodes {
			playEpisode(t, e, 2*episode, seen, func(action []float32, _ int) {
				for i := range action {
					action[i] = 2*r.Float32() - 1
				}
			})
			playEpisode(t, e, 2*episode+1, seen, func(action []float32, k int) {
				for i := range action {
					if k == 0 || r.Float32() < 0.1 {
						action[i] = float32(2*r.IntN(2) - 1)
					}
				}
			})
		}
		// What does not move in one episode, such as a target or an untouched sensor, moves in one
		// of the next.
		for episode := 2 * episodes; episode < 60 && seen.constant() >= 0; episode++ {
			obs := make([]float32, task.ObsSize)
			if err := e.Reset(episode, obs); err != nil {
				t.Fatal(err)
			}
			seen.add(obs)
			play(t, e, r, 40)
			e.Observation(obs)
			seen.add(obs)
		}
		if i := seen.constant(); i >= 0 {
			t.Errorf("observation %d is constant", i)
		}
	})
}

// spread records the range of each observation.
type spread struct {
	low, high []float32
	n         int
}

func (s *spread) add(obs []float32) {
	for i, x := range obs {
		if s.n == 0 || x < s.low[i] {
			s.low[i] = x
		}
		if s.n == 0 || x > s.high[i] {
			s.high[i] = x
		}
	}
	s.n++
}

// constant is the first coordinate that never changed, or -1.
func (s *spread) constant() int {
	for i := range s.low {
		if s.low[i] == s.high[i] {
			return i
		}
	}
	return -1
}

// playEpisode plays an episode to its end and checks every step against the task's own description.
func playEpisode(t *testing.T, e *Env, episode uint64, seen *spread, act func(action []float32, k int)) {
	t.Helper()
	task := e.sim.task
	action, obs := make([]float32, task.ActSize), make([]float32, task.ObsSize)
	if err := e.Reset(episode, obs); err != nil {
		t.Fatal(err)
	}
	for k := range task.EpisodeSteps {
		seen.add(obs)
		act(action, k)
		reward, terminated, truncated, err := e.Step(action, obs)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(reward) || math.IsInf(reward, 0) || task.order == suiteOrder && (reward < 0 || reward > 1) {
			t.Fatalf("step %d: reward %v", k+1, reward)
		}
		for i, x := range obs {
			if !(math.Abs(float64(x)) < limit) {
				t.Fatalf("step %d: observation %d is %v", k+1, i, x)
			}
		}
		if terminated && !task.Terminates || truncated != (k+1 == task.EpisodeSteps) {
			t.Fatalf("step %d: terminated %v, truncated %v", k+1, terminated, truncated)
		}
		if terminated {
			break
		}
	}
	if _, _, _, err := e.Step(action, obs); err == nil || !strings.Contains(err.Error(), task.Name) || !strings.Contains(err.Error(), "reset first") {
		t.Errorf("a step after the end: error %v", err)
	}
}

// TestWrongActionsAreErrors that name the task and what is wrong, and change
// nothing.
func TestWrongActionsAreErrors(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		e := makeEnv(t, task, 0)
		obs := make([]float32, e.ObsSize())
		if err := e.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		before, state := slices.Clone(obs), slices.Clone(e.sim.body.QPos)
		wrong := func(value float64) []float32 {
			action := make([]float32, task.ActSize)
			action[task.ActSize-1] = float32(value)
			return action
		}
		for _, c := range []struct {
			action []float32
			want   string
		}{
			{make([]float32, task.ActSize-1), "action of length"},
			{make([]float32, task.ActSize+1), "action of length"},
			{wrong(math.NaN()), "is NaN: want a number from -1 to 1"},
			{wrong(math.Inf(1)), "is +Inf"},
			{wrong(math.Inf(-1)), "is -Inf"},
			{wrong(1.001), "is 1.00"},
			{wrong(-7), "is -7"},
		} {
			_, _, _, err := e.Step(c.action, obs)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), task.Name) || strings.Contains(err.Error(), "\n") {
				t.Errorf("action %v: error %v, want %q and the task in it", c.action, err, c.want)
			}
			if !slices.Equal(obs, before) || !slices.Equal(e.sim.body.QPos, state) || e.sim.step != 0 {
				t.Errorf("action %v changed something", c.action)
			}
		}
		if _, _, _, err := e.Step(wrong(1+1e-7), obs); err != nil {
			t.Errorf("a bound as 32 bits round it: %v", err)
		}
		if err := e.Reset(0, obs[1:]); err == nil {
			t.Error("a short observation is no error")
		}
	})
	if _, err := reacherHard.NewVec(0, 0); err == nil {
		t.Error("no copies are no error")
	}
}

// TestDivergenceEndsTheEpisode checks that a state that runs away, and anything else that the
// engine warns of, is an error that ends the episode and leaves no garbage.
func TestDivergenceEndsTheEpisode(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		e := makeEnv(t, task, 0)
		action, obs := make([]float32, task.ActSize), make([]float32, task.ObsSize)
		for _, bad := range []float64{math.NaN(), math.Inf(1), 1e11, 1e300} {
			if err := e.Reset(0, obs); err != nil {
				t.Fatal(err)
			}
			before := slices.Clone(obs)
			e.sim.body.QVel[len(e.sim.body.QVel)-1] = bad
			_, terminated, truncated, err := e.Step(action, obs)
			var diverged *Diverged
			if !errors.As(err, &diverged) || !strings.Contains(err.Error(), task.Name) || terminated || truncated {
				t.Errorf("a velocity of %v: error %v, terminated %v, truncated %v", bad, err, terminated, truncated)
			}
			e.Observation(obs)
			if !slices.Equal(obs, before) {
				t.Errorf("a velocity of %v: observation %v, want the last good one %v", bad, obs, before)
			}
			if _, _, _, err := e.Step(action, obs); err == nil || !strings.Contains(err.Error(), "reset first") {
				t.Errorf("a step after divergence: %v", err)
			}
		}
		if err := e.Reset(0, obs); err != nil {
			t.Fatalf("reset after divergence: %v", err)
		}
		other := makeEnv(t, task, 0)
		play(t, other, rand.New(rand.NewPCG(1, 1)), 20)
		if err := other.Reset(0, make([]float32, task.ObsSize)); err != nil {
			t.Fatal(err)
		}
		if got, want := play(t, e, rand.New(rand.NewPCG(1, 1)), 20), play(t, other, rand.New(rand.NewPCG(1, 1)), 20); !slices.Equal(got, want) {
			t.Error("divergence leaves traces in the next episode")
		}
	})
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
		play(t, a, rand.New(rand.NewPCG(3, 4)), 50) // leaves traces in a, but not in the next start
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
			wg.Go(func() { histories[i] = play(t, e, rand.New(rand.NewPCG(5, 6)), 100) })
		}
		wg.Wait()
		if !slices.Equal(histories[0], histories[1]) {
			t.Error("two environments in parallel part")
		}
	})
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"cheetah-run": "cheetah-run", "Walker_walk": "walker-walk", "finger-turn_hard": "finger-turn-hard",
		"ball_in_cup-catch": "ball-in-cup-catch", "hopper-v2": "Hopper-v2", "HalfCheetah_v2": "HalfCheetah-v2",
	} {
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
	if len(names) < 22 || !slices.IsSortedFunc(names, func(a, b Task) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	}) {
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
			episode, over := uint64(0), true
			for b.Loop() {
				if over {
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
				_, terminated, truncated, err := e.Step(action, obs)
				if err != nil {
					b.Fatal(err)
				}
				over = terminated || truncated
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
