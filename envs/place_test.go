package envs

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// contacts amplify the rounding of observations to 32 bits. The amount depends on the body: stiff
// bodies throw a limb far within one control step.
const (
	placedReward = 1e-3
	placedState  = 0.05
)

// TestPlacedStatesStepAsTheRealOnes puts an observation back into the physics and makes a step. In
// the median step nothing differs but rounding, and hardly any step differs by more than contacts
// can explain.
func TestPlacedStatesStepAsTheRealOnes(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		if task.Hidden != "" {
			return
		}
		env, twin := makeEnv(t, task, 3), makeEnv(t, task, 3)
		obs, next, got := make([]float32, task.ObsSize), make([]float32, task.ObsSize), make([]float32, task.ObsSize)
		if err := env.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(2, 3))
		action := make([]float32, task.ActSize)
		steps, near, far, clipped := 100, 0, 0, 0
		for k := range steps {
			for i := range action {
				action[i] = 0.5 * float32(math.Sin(float64(k*(i+1))*0.3)+2*r.Float64()-1)
			}
			reward, terminated, _, err := env.Step(action, next)
			if err != nil {
				t.Fatal(err)
			}
			if err := twin.Place(obs); err != nil {
				if !strings.Contains(err.Error(), "clipped") {
					t.Fatal(err)
				}
				clipped++
			} else {
				again, fell, _, err := twin.Step(action, got)
				if err != nil {
					t.Fatal(err)
				}
				worst := math.Abs(reward - again)
				for i := range got {
					worst = max(worst, math.Abs(float64(got[i]-next[i]))/(1+math.Abs(float64(next[i]))))
				}
				if worst < 1e-4 && fell == terminated {
					near++
				}
				if worst > placedState {
					far++
				}
			}
			obs, next = next, obs
			if terminated {
				if err := env.Reset(uint64(k), obs); err != nil {
					t.Fatal(err)
				}
			}
		}
		if compared := steps - clipped; near < compared*8/10 || far > compared/20 || compared < steps/4 {
			t.Errorf("of %d steps, %d compared, %d were equal but for rounding and %d far off", steps, compared, near, far)
		}
	})
}

// TestPlaceRefusesWhatItCannotKnow gives Place too few numbers, values that are not numbers, tasks
// that show too little, and velocities at the clip.
func TestPlaceRefusesWhatItCannotKnow(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		env := makeEnv(t, task, 0)
		if err := env.Place(make([]float32, task.ObsSize-1)); err == nil || !strings.Contains(err.Error(), task.Name) {
			t.Errorf("placed by too few numbers: %v", err)
		}
		obs := make([]float32, task.ObsSize)
		if err := env.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		if err := env.Place(obs); (err != nil) != (task.Hidden != "") || err != nil && !strings.Contains(err.Error(), task.Hidden) {
			t.Errorf("placed by an observation: %v; hidden: %q", err, task.Hidden)
		}
		obs[0] = float32(math.NaN())
		if err := env.Place(obs); err == nil {
			t.Error("placed where nothing is")
		}
	})
	for _, task := range []Task{gymHopper, gymWalker} {
		env := makeEnv(t, task, 0)
		obs := make([]float32, task.ObsSize)
		if err := env.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		obs[task.ObsSize-1] = -10
		if err := env.Place(obs); err == nil || !strings.Contains(err.Error(), "clipped") {
			t.Errorf("%s: a velocity at the clip: %v", task.Name, err)
		}
	}
}
