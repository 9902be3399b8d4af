package envs

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

func TestStepsDoNotAllocate(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		e := makeEnv(t, task, 0)
		obs, action := make([]float32, task.ObsSize), make([]float32, task.ActSize)
		if err := e.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(4, func() { e.Step(action, obs) }); n != 0 {
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
		if n := testing.AllocsPerRun(4, func() { v.Step(actions, many, rewards, ended) }); n != 0 {
			t.Errorf("%v allocations in a step of four copies", n)
		}
	})
}

// TestMemoryStaysPut checks that neither the engine's memory nor Go's grows over many resets and
// steps. The long form makes 100,000 resets and 10 million steps, spread over all tasks by their
// cost.
func TestMemoryStaysPut(t *testing.T) {
	share := func(Task) float64 { return 0 }
	resets, least, total := 5, 50, 0.0
	if soak() {
		resets, total = 1+100_000/len(Tasks()), 10_000_000
		share = equalTimes(t)
	}
	eachTask(t, func(t *testing.T, task Task) {
		e := makeEnv(t, task, 0)
		obs, action := make([]float32, task.ObsSize), make([]float32, task.ActSize)
		steps := least + int(total*share(task))
		if err := e.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		play(t, e, r, 20)
		size, heap := e.instance.MemorySize(), heapInUse()
		for episode := range uint64(resets) {
			if err := e.Reset(episode, obs); err != nil {
				t.Fatal(err)
			}
		}
		for k, episode := 0, uint64(0); k < steps; k++ {
			for i := range action {
				action[i] = 2*r.Float32() - 1
			}
			_, terminated, truncated, err := e.Step(action, obs)
			if err == nil && (terminated || truncated) {
				episode++
				err = e.Reset(episode, obs)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := e.instance.MemorySize(); got != size {
			t.Errorf("the engine's memory grew from %d to %d bytes", size, got)
		}
		if got := heapInUse(); soak() && got > heap+1<<20 {
			t.Errorf("Go's memory grew from %d to %d bytes in %d steps", heap, got, steps)
		}
	})
}

// equalTimes gives each task a share of all steps such that all tasks take the same time.
func equalTimes(t *testing.T) func(Task) float64 {
	rates, all := map[string]float64{}, 0.0
	for _, task := range Tasks() {
		e := makeEnv(t, task, 0)
		if err := e.Reset(0, make([]float32, task.ObsSize)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		play(t, e, rand.New(rand.NewPCG(1, 1)), 500)
		rates[task.Name] = 1 / time.Since(began).Seconds()
		all += rates[task.Name]
	}
	return func(task Task) float64 { return rates[task.Name] / all }
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
