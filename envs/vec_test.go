package envs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
)

// Copies are environments of their own. Which task they have makes no difference, so that a few stand
// for all.
func TestVecEnvIsManyEnvs(t *testing.T) {
	few := []string{"cartpole-swingup", "finger-turn-hard", "quadruped-walk", "Hopper-v2"}
	if soak() {
		few = nil
		for _, task := range Tasks() {
			few = append(few, task.Name)
		}
	}
	for _, name := range few {
		t.Run(name, func(t *testing.T) {
			needPhysics(t)
			task, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			const n, episode = 3, 3
			single := make([][]float64, n)
			for i := range single {
				single[i] = vecHistory(t, task, 1, 1, episode*n+uint64(i), []int{i})
			}
			for _, workers := range []int{1, 2} {
				got := vecHistory(t, task, n, workers, episode, []int{0, 1, 2})
				for i := range single {
					if !slices.Equal(got[i*len(got)/n:(i+1)*len(got)/n], single[i]) {
						t.Errorf("%d workers: copy %d differs from an environment alone", workers, i)
					}
				}
			}
		})
	}
}

// vecHistory plays 10 steps on n copies, copy i with the actions of ids[i], and
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
	for k := range 10 {
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

func BenchmarkVecStep(b *testing.B) {
	for _, n := range []int{10, 40} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkVecStep(b, n) })
	}
}

func benchmarkVecStep(b *testing.B, n int) {
	needPhysics(b)
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
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// These are the methods that the lab needs of environments, in built-in types, so that neither
// package needs the other.
var (
	_ interface {
		ObsSize() int
		ActSize() int
		Reset(episode uint64, obs []float32) error
		Step(action, obs []float32) (reward float64, terminated, truncated bool, err error)
		Save(w io.Writer) error
		Load(r io.Reader) error
		Close() error
	} = (*Env)(nil)
	_ interface {
		Size() int
		ObsSize() int
		ActSize() int
		Reset(episode uint64, obs []float32) error
		Step(actions, obs []float32, rewards []float64, ended []bool) error
		Save(w io.Writer) error
		Load(r io.Reader) error
		Close() error
	} = (*VecEnv)(nil)
)
