package envs

import (
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

// rest returns the pose in which a task's body is drawn in the model.
func rest(t testing.TB, e *Env) []float64 {
	t.Helper()
	if err := e.sim.body.Reset(); err != nil {
		t.Fatal(err)
	}
	if err := e.sim.body.Forward(); err != nil {
		t.Fatal(err)
	}
	return e.Pose(nil)
}

func newView(t testing.TB, name string) (*View, *Env) {
	t.Helper()
	task, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := task.View()
	if err != nil {
		t.Fatal(err)
	}
	e, err := task.New(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return v, e
}

func readPNG(t testing.TB, name string) image.Image {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// The frames are MuJoCo 2.2.2's own, by OSMesa, with the models of dm_control in their reference
// pose. The differences are the stars, whose places are ours, and the pixels at borders; mean
// absolute differences were 3.0 and 2.5 of 255.
func TestPicturesAreLikeMuJoCos(t *testing.T) {
	const bound = 4
	for task, file := range map[string]string{"cheetah-run": "cheetah_a.png", "walker-walk": "walker_a.png"} {
		v, e := newView(t, task)
		want := readPNG(t, "render/testdata/"+file)
		size := want.Bounds().Size()
		got, err := v.Draw(rest(t, e), size.X, size.Y)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for y := range size.Y {
			for x := range size.X {
				r, g, b, _ := want.At(x, y).RGBA()
				c := got.RGBAAt(x, y)
				for _, d := range [3]int{int(c.R) - int(r>>8), int(c.G) - int(g>>8), int(c.B) - int(b>>8)} {
					sum += math.Abs(float64(d))
				}
			}
		}
		if mean := sum / float64(3*size.X*size.Y); mean > bound {
			t.Errorf("%s: mean absolute difference %.2f of 255, want at most %d", task, mean, bound)
		}
	}
}

// Every task shows something that moves, and drawing it changes nothing.
func TestEveryTaskCanBeSeen(t *testing.T) {
	const w, h = 60, 40
	for _, task := range Tasks() {
		t.Run(task.Name, func(t *testing.T) {
			v, e := newView(t, task.Name)
			obs, action := make([]float32, e.ObsSize()), make([]float32, e.ActSize())
			if err := e.Reset(0, obs); err != nil {
				t.Fatal(err)
			}
			if s := v.StepTime(); s < time.Millisecond || s > 100*time.Millisecond {
				t.Errorf("a control step of %v", s)
			}
			pose := e.Pose(nil)
			img, err := v.Draw(pose, w, h)
			if err != nil {
				t.Fatal(err)
			}
			first := slices.Clone(img.Pix)
			for i := range action {
				action[i] = float32(1 - 2*(i%2))
			}
			for range 40 {
				_, terminated, _, err := e.Step(action, obs)
				if err != nil {
					t.Fatal(err)
				}
				if terminated {
					break
				}
			}
			if img, err = v.Draw(e.Pose(pose[:0]), w, h); err != nil {
				t.Fatal(err)
			}
			moved := 0
			for i := 0; i < len(first); i += 4 {
				if !slices.Equal(first[i:i+3], img.Pix[i:i+3]) {
					moved++
				}
			}
			if moved < 5 {
				t.Errorf("%d of %d pixels changed in 40 steps", moved, w*h)
			}
			if _, err := v.Draw(pose[1:], w, h); err == nil {
				t.Error("the pose of another body was drawn")
			}
		})
	}
}

// A pose is that of the present state also where a state was written: by Load or by Place.
func TestPosesAreOfTheStateThatWasWritten(t *testing.T) {
	for _, task := range []Task{cheetahRun, gymHalfCheetah, gymHopper, gymWalker} {
		env, other := makeEnv(t, task, 3), makeEnv(t, task, 4)
		obs := make([]float32, task.ObsSize)
		if err := env.Reset(0, obs); err != nil {
			t.Fatal(err)
		}
		play(t, other, rand.New(rand.NewPCG(1, 1)), 20)
		for name, write := range map[string]func() error{
			"Load":  func() error { return other.Load(saved(t, env)) },
			"Place": func() error { return other.Place(obs) },
		} {
			if err := write(); err != nil {
				t.Fatal(err)
			}
			got := other.Pose(nil)
			if err := other.sim.body.Forward(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, other.Pose(nil)) {
				t.Errorf("%s: after %s the pose is not that of the state", task.Name, name)
			}
		}
	}
}

func TestAPoseAllocatesNothing(t *testing.T) {
	v, e := newView(t, "walker-walk")
	pose := rest(t, e)
	if _, err := v.Draw(pose, 84, 84); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5, func() { v.Draw(e.Pose(pose[:0]), 84, 84) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, name := range []string{"walker-walk", "cheetah-run", "quadruped-walk", "finger-turn-hard"} {
		b.Run(name, func(b *testing.B) {
			v, e := newView(b, name)
			pose := rest(b, e)
			v.Draw(pose, 84, 84) // makes the sky
			b.ReportAllocs()
			best := time.Hour // a busy machine spoils the mean
			for b.Loop() {
				start := time.Now()
				v.Draw(pose, 84, 84)
				best = min(best, time.Since(start))
			}
			b.ReportMetric(float64(best), "best-ns")
		})
	}
}
