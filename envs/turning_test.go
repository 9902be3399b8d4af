package envs

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A whole turn of an angle without limits changes neither the next state nor the reward.
func TestTurningAngles(t *testing.T) {
	turning := 0
	for _, task := range Tasks() {
		for _, j := range task.Turning {
			turning++
			env := makeEnv(t, task, 0)
			obs, act := make([]float32, task.ObsSize), make([]float32, task.ActSize)
			if err := env.Reset(0, obs); err != nil {
				t.Fatal(err)
			}
			for i := range act {
				act[i] = 0.5
			}
			if _, _, _, err := env.Step(act, obs); err != nil {
				t.Fatal(err)
			}
			if task.Hidden != "" {
				t.Errorf("%s: cannot be placed: %s", task.Name, task.Hidden)
				continue
			}
			var after [2][]float32
			var rewards [2]float64
			for k, turn := range []float64{0, 2 * math.Pi} {
				from := append([]float32(nil), obs...)
				from[j] = float32(float64(from[j]) + turn)
				if err := env.Place(from); err != nil {
					t.Fatal(err)
				}
				after[k] = make([]float32, task.ObsSize)
				var err error
				if rewards[k], _, _, err = env.Step(act, after[k]); err != nil {
					t.Fatal(err)
				}
				after[k][j] = float32(float64(after[k][j]) - turn)
			}
			for i := range after[0] {
				if d := math.Abs(float64(after[0][i] - after[1][i])); d > 2e-4*(1+math.Abs(float64(after[0][i]))) {
					t.Errorf("%s: coordinate %d is %v, after a turn of %d %v", task.Name, i, after[0][i], j, after[1][i])
				}
			}
			if math.Abs(rewards[0]-rewards[1]) > 1e-5 {
				t.Errorf("%s: reward %v, after a turn %v", task.Name, rewards[0], rewards[1])
			}
		}
	}
	if turning < 5 {
		t.Errorf("%d angles", turning)
	}
}

// The squares of a direction's coordinates add up to 1, in first states and in later ones.
func TestDirections(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 5))
	with := 0
	for _, task := range Tasks() {
		if len(task.Directions) == 0 {
			continue
		}
		with++
		env := makeEnv(t, task, 0)
		obs, act := make([]float32, task.ObsSize), make([]float32, task.ActSize)
		if err := env.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			for _, p := range task.Directions {
				if norm := math.Hypot(float64(obs[p[0]]), float64(obs[p[1]])); math.Abs(norm-1) > 1e-6 {
					t.Errorf("%s: coordinates %v have the norm %v", task.Name, p, norm)
				}
			}
			for i := range act {
				act[i] = 2*draw.Float32() - 1
			}
			if _, _, _, err := env.Step(act, obs); err != nil {
				t.Fatal(err)
			}
		}
	}
	if with < 7 {
		t.Errorf("%d tasks with directions", with)
	}
}
