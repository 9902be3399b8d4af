package envs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func saved(t *testing.T, e *Env) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	return &b
}

func with(t *testing.T, task Task, repeat int) Task {
	t.Helper()
	changed, err := task.With(repeat)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestRepeatIsManySteps checks that one step with action repeat equals as many steps of the same
// action, with the rewards summed, and that it stops at the end of the episode.
func TestRepeatIsManySteps(t *testing.T) {
	for _, base := range []Task{cheetahRun, gymHopper} {
		const repeat = 3
		task := with(t, base, repeat)
		if task.EpisodeSteps != 334 {
			t.Errorf("%s: %d steps in an episode, want 334", task.Name, task.EpisodeSteps)
		}
		one, many := makeEnv(t, base, 4), makeEnv(t, task, 4)
		obs, again := make([]float32, base.ObsSize), make([]float32, base.ObsSize)
		if one.Reset(1, obs) != nil || many.Reset(1, again) != nil {
			t.Fatal("reset failed")
		}
		r := rand.New(rand.NewPCG(1, 1))
		action := make([]float32, base.ActSize)
		for over := false; !over; {
			for i := range action {
				action[i] = 0.3 * (2*r.Float32() - 1)
			}
			got, terminated, truncated, err := many.Step(action, again)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			var end, cut bool
			for range repeat {
				reward, e, c, err := one.Step(action, obs)
				if err != nil {
					t.Fatal(err)
				}
				if want, end, cut = want+reward, e, c; e || c {
					break
				}
			}
			if got != want || terminated != end || truncated != cut || !slices.Equal(obs, again) {
				t.Fatalf("%s: reward %v, terminated %v, truncated %v, want %v, %v, %v", base.Name, got, terminated, truncated, want, end, cut)
			}
			over = end || cut
		}
		if one.sim.step != many.sim.step || !base.Terminates && many.sim.step != controlSteps {
			t.Errorf("%s: %d and %d control steps", base.Name, one.sim.step, many.sim.step)
		}
	}
}

func TestBadRepeatsAreRefused(t *testing.T) {
	for _, repeat := range []int{-1, 1001} {
		if _, err := cheetahRun.With(repeat); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("cheetah-run: action repeat of %d", repeat)) {
			t.Errorf("%d: %v", repeat, err)
		}
	}
}
