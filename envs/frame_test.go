package envs

import (
	"bytes"
	"testing"
)

// A frame is the picture that a View draws of the same pose, and a state looks the same after it
// was saved and loaded.
func TestFramesAreThePicturesOfTheirState(t *testing.T) {
	const side = 24
	for _, name := range []string{"cartpole-balance", "quadruped-walk", "hopper-hop"} {
		task, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		env, other := makeEnv(t, task, 3), makeEnv(t, task, 3)
		obs, action := make([]float32, task.ObsSize), make([]float32, task.ActSize)
		if err := env.Reset(1, obs); err != nil {
			t.Fatal(err)
		}
		frame, again, before := make([]byte, side*side*3), make([]byte, side*side*3), make([]byte, side*side*3)
		if err := env.Frame(before, side); err != nil {
			t.Fatal(err)
		}
		for i := range action {
			action[i] = 1
		}
		for range 20 {
			if _, _, _, err := env.Step(action, obs); err != nil {
				t.Fatal(err)
			}
		}
		if err := env.Frame(frame, side); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(before, frame) {
			t.Errorf("%s looks as it did 20 steps before", name)
		}
		view, err := task.View()
		if err != nil {
			t.Fatal(err)
		}
		picture, err := view.Draw(env.Pose(nil), side, side)
		if err != nil {
			t.Fatal(err)
		}
		for i := range side * side {
			if !bytes.Equal(frame[3*i:3*i+3], picture.Pix[4*i:4*i+3]) {
				t.Fatalf("%s: pixel %d is %v, the view draws %v", name, i, frame[3*i:3*i+3], picture.Pix[4*i:4*i+3])
			}
		}
		var saved bytes.Buffer
		if err := env.Save(&saved); err != nil {
			t.Fatal(err)
		}
		if err := other.Load(&saved); err != nil {
			t.Fatal(err)
		}
		if err := other.Frame(again, side); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(frame, again) {
			t.Errorf("%s looks otherwise after it was loaded", name)
		}
		if env.Frame(frame[1:], side) == nil || env.Frame(nil, 0) == nil {
			t.Error("a frame that does not fit is let pass")
		}
	}
}

// The frames of copies are those of single environments in the same episodes, however many workers
// draw them.
func TestFramesOfCopies(t *testing.T) {
	const side, copies = 16, 5
	task, err := Find("cartpole-swingup")
	if err != nil {
		t.Fatal(err)
	}
	size := side * side * 3
	var all [2][]byte
	for workers := range all {
		v, err := task.newVec(copies, 4, workers+1)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		all[workers] = make([]byte, copies*size)
		if err := v.Reset(2, make([]float32, copies*task.ObsSize)); err != nil {
			t.Fatal(err)
		}
		if err := v.Frames(all[workers], side); err != nil {
			t.Fatal(err)
		}
		if v.Frames(all[workers][:size], side) == nil {
			t.Error("frames that do not fit are let pass")
		}
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("another number of workers draws other frames")
	}
	env, frame := makeEnv(t, task, 4), make([]byte, size)
	for i := range copies {
		if err := env.Reset(uint64(2*copies+i), make([]float32, task.ObsSize)); err != nil {
			t.Fatal(err)
		}
		if err := env.Frame(frame, side); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(frame, all[0][i*size:(i+1)*size]) {
			t.Errorf("copy %d looks otherwise than its episode", i)
		}
	}
	if n := testing.AllocsPerRun(5, func() { env.Frame(frame, side) }); n != 0 {
		t.Errorf("a frame allocates %v times", n)
	}
}
