package cuda

import (
	"bytes"
	"fmt"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/agent/ppo"
	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/experience"
	"pgrlab/core/nn"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// film is a sequence of noise frames, from which an update draws windows.
type film struct {
	agent.Frames // an update needs only Draw
	frames       [][]byte
	act          int
}

// snow returns n frames of noise.
func snow(n, side int) (frames [][]byte) {
	numbers := rng.New(5, "snow")
	for i := range n {
		u, frame := make([]float32, side*side*agent.Colours), make([]byte, side*side*agent.Colours)
		numbers.FillUniform(u, uint64(i), 0)
		for k, v := range u {
			frame[k] = byte(256 * v)
		}
		frames = append(frames, frame)
	}
	return frames
}

// Draw implements agent.Frames.
func (f *film) Draw(dst *replay.FrameRow, n int, gamma float64, occasion uint64, row int) error {
	t := (int(occasion)*7 + row) % (len(f.frames) - n - len(dst.Stack))
	for i := range dst.Stack {
		dst.Stack[i], dst.Next[i] = f.frames[t+i], f.frames[t+i+n]
	}
	dst.Action, dst.Return, dst.Discount = make([]float32, f.act), float32(t%5)/5, float32(gamma)
	rng.New(6, "actions").FillUniform(dst.Action, uint64(t), 0)
	return nil
}

// worked makes all units of a phase, and records the results of its updates.
func worked(t *testing.T, s *said, what string, phase agent.Phase, w *agent.Work) {
	t.Helper()
	total, err := phase.Start(w)
	if err != nil {
		t.Fatal(err)
	}
	before := len(*s)
	for done, n := 0, 0; done < total; done += n {
		var made []agent.UpdateResult
		if n, made, err = phase.Slice(w, done); err != nil {
			t.Fatal(err)
		}
		for _, m := range made {
			if m.Err != nil {
				t.Fatal(m.Err)
			}
			l := m.Losses
			s.say(fmt.Sprintf("%s, to unit %d", what, done+n), 10, float32(l.Critic), float32(l.QMean), float32(l.Actor))
		}
	}
	if len(*s) == before {
		t.Fatalf("%s made no update", what)
	}
}

// saved records the tensors that a learner saves.
func saved(t *testing.T, s *said, l agent.Learner) {
	t.Helper()
	var file bytes.Buffer
	if err := l.SavePolicy(&file); err != nil {
		t.Fatal(err)
	}
	tensors, err := nn.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tensors {
		s.say(x.Name, 50, x.Data...)
	}
}

// sighted is a small DrQ-v2.
func sighted() drqv2.Config {
	c := drqv2.DefaultConfig(2)
	c.Pixels = agent.Pixels{Side: 16, Stack: 2, Pad: 2, Channels: 4, Strides: []int{2, 1}, Feature: 5}
	c.Hidden, c.Slice = []int{8, 8}, 6
	return c
}

// watching makes updates of DrQ-v2 on batches with a number of rows, acts, and is saved.
func watching(t *testing.T, c drqv2.Config, dev device.Device, updates, rows int) (s said) {
	t.Helper()
	x, err := drqv2.New(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	frames := snow(30, c.Pixels.Side)
	for u := range updates {
		w := &agent.Work{
			Step: (u + 1) * c.UpdateEvery, Enough: true, Rates: drqv2.DefaultRates,
			Source: agent.BatchSource{Frames: &film{frames: frames, act: c.Act}, Mix: replay.Mix{Real: rows}},
		}
		worked(t, &s, fmt.Sprintf("update %d", u), x.Phases()[0], w)
	}
	action := make([]float32, c.Act)
	if err := x.Act(&agent.Acting{Copies: 1, Stacks: [][][]byte{frames[:c.Pixels.Stack]}, Actions: action, Mode: agent.Mean}); err != nil {
		t.Fatal(err)
	}
	s.say("an action", 10, action...)
	saved(t, &s, x)
	return s
}

// Updates of DrQ-v2 from frames, in parts of a batch, agree with the CPU, and so do the actions
// that follow.
func TestDrQ(t *testing.T) {
	agree(t, watching(t, sighted(), unchecked(t, Options{}), 3, 10), watching(t, sighted(), onCPU(t), 3, 10), 1e-5)
}

// The same holds with heads on the tensor cores: losses differ from the CPU's by no more than the
// rounding of a precision, and they do differ.
func TestDrQInPrecisions(t *testing.T) {
	if !soak && !onGPU {
		t.Skip("interpreting the tensor cores takes minutes: PGRLAB_SOAK=1, or PGRLAB_GPU=0 where there is a GPU")
	}
	c := sighted()
	c.Hidden, c.Critics, c.Slice = []int{512, 512}, 1, 256
	const updates = 2
	want := watching(t, c, onCPU(t), updates, 256)[:updates]
	for precision, tolerance := range map[kernel.Precision]float64{kernel.TF32: 1e-4, kernel.BF16: 8e-4} {
		got := watching(t, c, unchecked(t, Options{Precision: precision}), updates, 256)[:updates]
		agree(t, got, want, tolerance)
		if got[1].numbers[1] == want[1].numbers[1] {
			t.Errorf("%v rounds nothing", precision)
		}
	}
}

// Two iterations of PPO from observations and from frames agree with the CPU: acting, a rollout, its
// minibatches.
func TestPPO(t *testing.T) {
	plain := ppo.DefaultConfig(replay.Shape{Obs: 4, Act: 3}, 3)
	plain.Hidden, plain.Steps, plain.Minibatches, plain.Epochs = []int{8, 6}, 8, 2, 2
	sighted := plain
	sighted.Side, sighted.Kernels, sighted.Strides, sighted.Channels = 9, []int{4, 2}, []int{2, 1}, []int{3, 4}
	for name, c := range map[string]ppo.Config{"observations": plain, "frames": sighted} {
		t.Run(name, func(t *testing.T) {
			agree(t, iterating(t, c, unchecked(t, Options{})), iterating(t, c, onCPU(t)), 1e-5)
		})
	}
}

func iterating(t *testing.T, c ppo.Config, dev device.Device) (s said) {
	t.Helper()
	log := experience.NewLog(c.Looks(), experience.Keep{Looks: c.Copies * (2*c.Steps + 2), Steps: c.Steps})
	x, err := ppo.New(c, log, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	n, numbers := c.Copies, rng.New(7, "rollout")
	for step := range uint64(2 * c.Steps) { // two rollouts
		obs, next, rewards := make([]float32, n*c.Shape.Obs), make([]float32, n*c.Shape.Obs), make([]float32, n)
		numbers.Sub("s").FillNormal(obs, step, 0)
		numbers.Sub("s").FillNormal(next, step+1, 0)
		numbers.Sub("r").FillUniform(rewards, step, 0)
		look := func(obs []float32, step uint64, i int) experience.Look {
			if c.Side > 0 {
				return experience.Look{Frame: snow(n*(2*c.Steps+1), c.Side)[n*int(step)+i]}
			}
			return experience.Look{Numbers: obs[i*c.Shape.Obs:][:c.Shape.Obs]}
		}
		for i := range n {
			if step == 0 {
				log.Begin(i, look(obs, step, i))
			}
			action := make([]float32, c.Shape.Act)
			action[(i+int(step))%c.Shape.Act] = 1
			log.Add(i, experience.Step{Action: action, Reward: rewards[i], Next: look(next, step+1, i)})
		}
		if phase, w := x.Phases()[0], (&agent.Work{Rates: ppo.DefaultRates}); phase.Due(w) {
			worked(t, &s, fmt.Sprintf("iteration after env step %d", step), phase, w)
		}
	}
	look := agent.Acting{Copies: n, Obs: make([]float32, n*c.Shape.Obs), Actions: make([]float32, n*c.Shape.Act), Mode: agent.Mean}
	numbers.Sub("look").FillNormal(look.Obs, 0, 0)
	if c.Side > 0 {
		for _, frame := range snow(n, c.Side) {
			look.Stacks = append(look.Stacks, [][]byte{frame})
		}
	}
	if err := x.Act(&look); err != nil {
		t.Fatal(err)
	}
	s.say("actions", 10, look.Actions...)
	saved(t, &s, x)
	return s
}

// RND on frames is tested with updates on stacks, whitened with statistics that the host keeps, and
// with scores of more rows than one run of the networks takes; after saving and loading it
// continues as before.
func TestFrameRND(t *testing.T) {
	c := relevance.DefaultRND()
	c.Hidden, c.Features, c.Batch, c.ScoreRows = 8, 6, 3, 2
	dev, on := unchecked(t, Options{}), onCPU(t)
	made := func(dev device.Device, seed uint64) *relevance.FrameRND {
		m, err := relevance.NewFrameRND(c, shape, relevance.Frames{Side: 36, Stack: 2}, dev, seed)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	here, there := made(dev, 3), made(on, 3)
	agree(t, distilling(t, here, 0), distilling(t, there, 0), 1e-5)
	var file bytes.Buffer
	if err := here.Save(&file); err != nil {
		t.Fatal(err)
	}
	again := made(dev, 4)
	if err := again.Load(&file); err != nil {
		t.Fatal(err)
	}
	agree(t, distilling(t, again, 5), distilling(t, there, 5), 1e-5)
}

// Curiosity on frames is tested in the same way, with the actions between them.
func TestFrameICM(t *testing.T) {
	c := relevance.DefaultICM()
	c.On, c.Hidden, c.Batch, c.ScoreRows = relevance.OnFrames, 8, 2, 2
	dev, on := unchecked(t, Options{}), onCPU(t)
	made := func(dev device.Device, seed uint64) *relevance.FrameICM {
		m, err := relevance.NewFrameICM(c, shape, relevance.Frames{Side: 36, Stack: 1}, dev, seed)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	here, there := made(dev, 3), made(on, 3)
	agree(t, distilling(t, here, 0), distilling(t, there, 0), 1e-5)
	var file bytes.Buffer
	if err := here.Save(&file); err != nil {
		t.Fatal(err)
	}
	again := made(dev, 4)
	if err := again.Load(&file); err != nil {
		t.Fatal(err)
	}
	agree(t, distilling(t, again, 5), distilling(t, there, 5), 1e-5)
}

// distilling makes an update of a model of frames, and the scores after it.
func distilling(t *testing.T, m relevance.Trained, from int) (s said) {
	t.Helper()
	pictures, b := snow(12, 36), m.Batch()
	for i := range b.Frames {
		f := &b.Frames[i]
		for k := range f.Next {
			f.Stack[k], f.Next[k] = pictures[(from+i+k+1)%len(pictures)], pictures[(from+i+k)%len(pictures)]
		}
		f.Action = make([]float32, shape.Act)
		f.Action[i%shape.Act] = 1
	}
	loss, err := m.Train()
	if err != nil {
		t.Fatal(err)
	}
	s.say("loss", 10, float32(loss))
	scores := make([]float32, b.Size)
	if err := m.Score(scores, b, b.Size); err != nil {
		t.Fatal(err)
	}
	s.say("scores", 100, scores...)
	return s
}
