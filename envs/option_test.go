package envs

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgrlab/envs/noise"
)

func saved(t *testing.T, e *Env) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	return &b
}

func with(t *testing.T, task Task, o Options) Task {
	t.Helper()
	changed, err := task.With(o)
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
		task := with(t, base, Options{Repeat: repeat})
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

// TestNoise checks that the requested share of observations has noise of the requested size, and
// that rewards and physics have none. A restored environment sees the same noise, and the copies
// for evaluation see none.
func TestNoise(t *testing.T) {
	sigma := make([]float64, 17)
	for i := range sigma {
		sigma[i] = 0.01 * float64(i)
	}
	task := with(t, cheetahRun, Options{NoiseShare: 0.4, NoiseSigma: sigma})
	clear, noisy, twin := makeEnv(t, cheetahRun, 4), makeEnv(t, task, 4), makeEnv(t, task, 4)
	obs, seen, again, action := make([]float32, 17), make([]float32, 17), make([]float32, 17), make([]float32, 6)
	if clear.Reset(1, obs) != nil || noisy.Reset(1, seen) != nil {
		t.Fatal("reset failed")
	}
	r := rand.New(rand.NewPCG(1, 1))
	var touched int
	size := make([]moments, 17)
	const steps = 1000
	for range steps {
		for i := range action {
			action[i] = 2*r.Float32() - 1
		}
		want, _, _, err1 := clear.Step(action, obs)
		got, _, _, err2 := noisy.Step(action, seen)
		if err1 != nil || err2 != nil || got != want {
			t.Fatalf("reward %v, want %v (%v, %v)", got, want, err1, err2)
		}
		if seen[0] != obs[0] {
			t.Fatal("noise of size 0 changed an observation")
		}
		if !slices.Equal(seen, obs) {
			touched++
			for i := 1; i < 17; i++ {
				size[i].add(float64(seen[i]-obs[i]) / sigma[i])
			}
		}
		if err := twin.Load(saved(t, noisy)); err != nil {
			t.Fatal(err)
		}
		if twin.Observation(again); !slices.Equal(again, seen) {
			t.Fatal("a restored environment sees something else")
		}
	}
	if share := float64(touched) / steps; math.Abs(share-0.4) > 0.08 {
		t.Errorf("noise on a share of %v, want 0.4", share)
	}
	for i := 1; i < 17; i++ {
		if math.Abs(size[i].mean()) > 0.25 || math.Abs(size[i].spread()-1) > 0.2 {
			t.Errorf("coordinate %d: noise of mean %v and spread %v in units of its size", i, size[i].mean(), size[i].spread())
		}
	}
	v, err := task.newVec(1, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if v.Reset(1, again) != nil || clear.Reset(1, obs) != nil || !slices.Equal(again, obs) {
		t.Error("a copy that judges sees noise")
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]Options{
		"action repeat of -1": {Repeat: -1},
		"1001":                {Repeat: 1001},
		"a share of 1.5":      {NoiseShare: 1.5, NoiseSigma: []float64{1}},
		"a share of NaN":      {NoiseShare: math.NaN()},
		"of no size":          {NoiseShare: 0.1},
		"3 sizes":             {NoiseShare: 0.1, NoiseSigma: make([]float64, 3)},
		"noise 0 of size -1":  {NoiseShare: 0.1, NoiseSigma: []float64{-1}},
	} {
		if _, err := cheetahRun.With(o); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "cheetah-run") {
			t.Errorf("%+v: error %v, want %q in it", o, err, want)
		}
	}
	same := with(t, cheetahRun, Options{NoiseSigma: []float64{0.1}})
	if same.EpisodeSteps != 1000 || noise.New(same.options.noise()) != nil {
		t.Error("a size of noise without a share does something")
	}
}

// TestPlacedStatesHaveNoNoise checks that what is compared with generated transitions is the
// physics alone, also after it was saved and loaded, and that the next episode has noise again.
func TestPlacedStatesHaveNoNoise(t *testing.T) {
	task := with(t, cheetahRun, Options{NoiseShare: 1, NoiseSigma: []float64{0.1}})
	clear, noisy, twin := makeEnv(t, cheetahRun, 4), makeEnv(t, task, 4), makeEnv(t, task, 4)
	obs, want, got, action := make([]float32, 17), make([]float32, 17), make([]float32, 17), make([]float32, 6)
	if clear.Reset(0, obs) != nil || noisy.Reset(0, got) != nil || slices.Equal(obs, got) {
		t.Fatal("the episode before has no noise")
	}
	if clear.Place(obs) != nil || noisy.Place(obs) != nil || twin.Load(saved(t, noisy)) != nil {
		t.Fatal("place failed")
	}
	if _, _, _, err := clear.Step(action, want); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*Env{noisy, twin} {
		if _, _, _, err := e.Step(action, got); err != nil || !slices.Equal(got, want) {
			t.Errorf("a step from a placed state gives %v, want %v (%v)", got, want, err)
		}
	}
	if noisy.Reset(0, got) != nil || slices.Equal(obs, got) {
		t.Error("the episode after has no noise")
	}
}
