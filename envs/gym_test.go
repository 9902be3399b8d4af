package envs

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGymRewards compares the rewards with those computed from the positions before and after, as
// gym/envs/mujoco/{hopper,walker2d,half_cheetah}.py compute them.
func TestGymRewards(t *testing.T) {
	for _, c := range []struct {
		task                   Task
		duration, bonus, price float64
	}{{gymHopper, 0.008, 1, 1e-3}, {gymWalker, 0.008, 1, 1e-3}, {gymHalfCheetah, 0.05, 0, 0.1}} {
		s := simulate(t, c.task, 1)
		if err := s.reset(0); err != nil {
			t.Fatal(err)
		}
		action := make([]float64, c.task.ActSize)
		for k := range 15 {
			squares := 0.0
			for i := range action {
				action[i] = math.Sin(float64(k + i))
				squares += action[i] * action[i]
			}
			before := s.body.QPos[0]
			reward, err := s.advance(action)
			if err != nil {
				t.Fatal(err)
			}
			if want := (s.body.QPos[0]-before)/c.duration + c.bonus - c.price*squares; math.Abs(reward-want) > 1e-9 {
				t.Fatalf("%s, step %d: reward %v, want %v", c.task.Name, k, reward, want)
			}
		}
	}
}

// TestGymEnds puts the bodies just inside and just outside the bounds that end an episode.
func TestGymEnds(t *testing.T) {
	type state struct{ height, angle, speed float64 }
	for _, c := range []struct {
		task  Task
		alive []state
		dead  []state
	}{
		{gymHopper, []state{{0.701, 0, 0}, {1.25, 0.199, 0}, {1.25, -0.199, 0}, {5, 0, 99.9}},
			[]state{{0.7, 0, 0}, {1.25, 0.2, 0}, {1.25, -0.21, 0}, {1.25, 0, 100}, {1.25, 0, -101}}},
		{gymWalker, []state{{0.801, 0, 0}, {1.999, 0, 0}, {1.25, 0.99, 200}, {1.25, -0.99, 0}},
			[]state{{0.8, 0, 0}, {2, 0, 0}, {1.25, 1, 0}, {1.25, -1, 0}}},
	} {
		s := simulate(t, c.task, 1)
		judge := s.behaviour.(mortal)
		set := func(x state) {
			s.body.QPos[1], s.body.QPos[2], s.body.QVel[3] = x.height, x.angle, x.speed
		}
		for _, x := range c.alive {
			if set(x); judge.fallen() {
				t.Errorf("%s: %+v ends the episode", c.task.Name, x)
			}
		}
		for _, x := range c.dead {
			if set(x); !judge.fallen() {
				t.Errorf("%s: %+v does not end the episode", c.task.Name, x)
			}
		}
	}
}

// TestFallingEndsAnEpisode lets Hopper-v2 fall without controls. The end is a termination, and it
// is saved as one.
func TestFallingEndsAnEpisode(t *testing.T) {
	e := makeEnv(t, gymHopper, 0)
	v, err := gymHopper.newVec(2, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	obs, many := make([]float32, 11), make([]float32, 22)
	rewards, ended := make([]float64, 2), make([]bool, 2)
	if e.Reset(0, obs) != nil || v.Reset(0, many) != nil {
		t.Fatal("reset failed")
	}
	for k := 1; ; k++ {
		_, terminated, truncated, err := e.Step(make([]float32, 3), obs)
		if err != nil || truncated || k > 500 {
			t.Fatalf("step %d: truncated %v (%v)", k, truncated, err)
		}
		if err := v.Step(make([]float32, 6), many, rewards, ended); err != nil {
			t.Fatal(err)
		}
		if ended[0] != terminated {
			t.Fatalf("step %d: terminated %v, copy 0 ended %v", k, terminated, ended[0])
		}
		if terminated {
			break
		}
	}
	other := makeEnv(t, gymHopper, 5)
	if err := other.Load(saved(t, e)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := other.Step(make([]float32, 3), obs); err == nil {
		t.Error("a loaded environment goes on after its end")
	}
}

// Ends agrees with the environment about every transition, over whole episodes of random actions.
// Tasks that never end have no Ends.
func TestEndsAreThoseOfTheEnvironment(t *testing.T) {
	for _, task := range Tasks() {
		if task.Terminates != (task.Ends != nil) {
			t.Errorf("%s: terminates is %v, and has a rule for ends: %v", task.Name, task.Terminates, task.Ends != nil)
		}
	}
	for _, task := range []Task{gymHopper, gymWalker} {
		e := makeEnv(t, task, 3)
		obs, next, act := make([]float32, task.ObsSize), make([]float32, task.ObsSize), make([]float32, task.ActSize)
		r := rand.New(rand.NewPCG(1, 2))
		for episode := range uint64(20) {
			if err := e.Reset(episode, obs); err != nil {
				t.Fatal(err)
			}
			for ended := false; !ended; copy(obs, next) {
				for i := range act {
					act[i] = 2*r.Float32() - 1
				}
				_, terminated, truncated, err := e.Step(act, next)
				if err != nil {
					t.Fatal(err)
				}
				if got := task.Ends(obs, act, next); got != terminated {
					t.Fatalf("%s, episode %d: the rule says %v of %v, the environment %v", task.Name, episode, got, next, terminated)
				}
				ended = terminated || truncated
			}
		}
	}
}
