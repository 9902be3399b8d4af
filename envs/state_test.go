package envs

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSaveAndLoad saves in the middle of an episode and loads into another environment, which is
// itself in the middle of an episode; this one continues to the end of the episode and into the
// next.
func TestSaveAndLoad(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		n := 40
		if soak() {
			n = 400
		}
		task.EpisodeSteps = n + n/2
		for _, at := range []int{1, n} {
			a, b := makeEnv(t, task, 21), makeEnv(t, task, 21)
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
			want := play(t, a, rand.New(rand.NewPCG(9, 9)), n)
			if got := play(t, b, rand.New(rand.NewPCG(9, 9)), n); !slices.Equal(got, want) {
				t.Errorf("saved at step %d: the copies part", at)
			}
		}
	})
}

// An environment of another seed that loads a state goes on with the episode under way, and then
// starts its own ones. The children of a fork have seeds of their own.
func TestLoadKeepsTheSeed(t *testing.T) {
	eachTask(t, func(t *testing.T, task Task) {
		a, b, own := makeEnv(t, task, 21), makeEnv(t, task, 22), makeEnv(t, task, 22)
		obs, again := make([]float32, task.ObsSize), make([]float32, task.ObsSize)
		if err := a.Reset(4, obs); err != nil {
			t.Fatal(err)
		}
		play(t, a, rand.New(rand.NewPCG(1, 1)), 2)
		if err := b.Load(saved(t, a)); err != nil {
			t.Fatal(err)
		}
		want := play(t, a, rand.New(rand.NewPCG(9, 9)), 4)
		if got := play(t, b, rand.New(rand.NewPCG(9, 9)), 4); !slices.Equal(got, want) {
			t.Error("the episode under way has changed")
		}
		if b.Reset(5, obs) != nil || own.Reset(5, again) != nil || !slices.Equal(obs, again) {
			t.Errorf("the next episode starts at %v, want %v", obs, again)
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

// FuzzLoad feeds arbitrary bytes to Load, which either refuses them and changes nothing, or accepts
// them and can save the same bytes again, except for the seed, which is its own.
func FuzzLoad(f *testing.F) {
	e := makeEnv(f, reacherHard, 1)
	play(f, e, rand.New(rand.NewPCG(1, 1)), 3)
	var good bytes.Buffer
	if err := e.Save(&good); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after bytes.Buffer
		if err := e.Save(&before); err != nil {
			t.Fatal(err)
		}
		want := before.Bytes()
		if e.Load(bytes.NewReader(b)) == nil {
			want = slices.Clone(b[:min(len(b), before.Len())])
			const seed = 8 + 32 + 7*4 // where it is in the header
			copy(want[seed:seed+8], before.Bytes()[seed:])
		}
		if err := e.Save(&after); err != nil || !bytes.Equal(after.Bytes(), want) {
			t.Errorf("state %x after loading, want %x (%v)", after.Bytes(), want, err)
		}
	})
}

// TestLoadAfterDivergence loads into an environment whose simulation has diverged, which goes on
// like one that has not.
func TestLoadAfterDivergence(t *testing.T) {
	for _, task := range []Task{cheetahRun, gymHopper} {
		a, b := makeEnv(t, task, 5), makeEnv(t, task, 5)
		action, obs := make([]float32, task.ActSize), make([]float32, task.ObsSize)
		if a.Reset(0, obs) != nil || b.Reset(0, obs) != nil {
			t.Fatal("reset failed")
		}
		b.sim.body.QVel[3] = 1e12
		if _, _, _, err := b.Step(action, obs); err == nil {
			t.Fatalf("%s does not diverge", task.Name)
		}
		if err := b.Load(saved(t, a)); err != nil {
			t.Fatal(err)
		}
		want := play(t, a, rand.New(rand.NewPCG(1, 1)), 20)
		if got := play(t, b, rand.New(rand.NewPCG(1, 1)), 20); !slices.Equal(got, want) {
			t.Errorf("%s: divergence leaves traces in a loaded state", task.Name)
		}
	}
}
