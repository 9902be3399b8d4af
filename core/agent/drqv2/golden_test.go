package drqv2

import (
	"encoding/base64"
	"math"
	"strconv"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/testing/golden"
)

// given holds an agent's initial weights and its data: everything that PyTorch needs for the same
// updates.
type given struct {
	Side, Stack, Pad, Channels, Feature int
	Strides, Hidden                     []int
	Rates                               agent.Rates
	Clip                                float64
	Preactivation                       float64  `json:",omitempty"`
	Frames                              []string // base64, [Side,Side,3] bytes
	Weights                             []weights
	Updates                             []goldenUpdate
}

type weights struct {
	Name  string
	Shape []int
	Data  []float32
}

type goldenUpdate struct {
	Sigma  float64
	Rows   []goldenRow
	Dreams []goldenDream `json:",omitempty"`
}

// goldenDream is a synthetic row.
type goldenDream struct {
	Z, Next, Action         []float32
	Return, Discount        float32
	TargetNoise, ActorNoise []float32
}

type goldenRow struct {
	Stack, Next             []int // frames
	Shift                   [4]int
	Action                  []float32
	Return, Discount        float32
	TargetNoise, ActorNoise []float32
}

// said holds PyTorch's results.
type said struct {
	Critic, Actor, QMean []float64 // of each update
	After                map[string][][]float32
}

const goldenRows, goldenUpdates = 6, 10

// goldenInput describes the first updates of an agent on a film and on synthetic rows.
func goldenInput(t *testing.T, x *Agent, f *film, work *agent.Work) given {
	c, rates := x.config, work.Rates
	in := given{
		Side: c.Pixels.Side, Stack: c.Pixels.Stack, Pad: c.Pixels.Pad, Channels: c.Pixels.Channels, Feature: c.Pixels.Feature,
		Strides: c.Pixels.Strides, Hidden: c.Hidden, Rates: rates, Clip: c.NoiseClip, Preactivation: c.Preactivation,
	}
	number := map[*byte]int{}
	for i, frame := range f.frames {
		number[&frame[0]], in.Frames = i, append(in.Frames, base64.StdEncoding.EncodeToString(frame))
	}
	for _, p := range x.nets.state() {
		in.Weights = append(in.Weights, weights{p.Name, p.Shape, append([]float32(nil), p.Data...)})
	}
	for update := range uint64(goldenUpdates) {
		u := goldenUpdate{Sigma: c.Sigma(2 * (update + 1))}
		for row := range goldenRows {
			drawn := replay.FrameRow{Stack: make([][]byte, c.Pixels.Stack), Next: make([][]byte, c.Pixels.Stack)}
			if err := f.Draw(&drawn, c.NStep, c.Gamma, update, row); err != nil {
				t.Fatal(err)
			}
			r := goldenRow{
				Shift: x.shifts(update, row), Action: drawn.Action, Return: drawn.Return, Discount: drawn.Discount,
				TargetNoise: make([]float32, c.Act), ActorNoise: make([]float32, c.Act),
			}
			for i := range drawn.Stack {
				r.Stack, r.Next = append(r.Stack, number[&drawn.Stack[i][0]]), append(r.Next, number[&drawn.Next[i][0]])
			}
			x.streams.target.FillNormal(r.TargetNoise, update, uint64(row*c.Act))
			x.streams.actor.FillNormal(r.ActorNoise, update, uint64(row*c.Act))
			u.Rows = append(u.Rows, r)
		}
		u.Dreams = goldenDreams(t, x, &work.Source, update)
		in.Updates = append(in.Updates, u)
	}
	return in
}

// goldenDreams returns the synthetic rows of an update.
func goldenDreams(t *testing.T, x *Agent, from *agent.BatchSource, update uint64) (all []goldenDream) {
	n, c := from.Mix.Synthetic, x.config
	if n == 0 {
		return nil
	}
	shape := c.latents()
	b := replay.NewBatch(shape, n)
	if err := from.Mixer.Sample(b, replay.Mix{Synthetic: n}, nil, from.Synthetic, update); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r := goldenDream{
			Z: b.Obs[i*shape.Obs : (i+1)*shape.Obs], Next: b.Next[i*shape.Obs : (i+1)*shape.Obs], Action: b.Act[i*c.Act : (i+1)*c.Act],
			Return: b.Reward[i], Discount: float32(math.Pow(c.Gamma, float64(c.NStep))) * (1 - b.Done[i]),
			TargetNoise: make([]float32, c.Act), ActorNoise: make([]float32, c.Act),
		}
		x.streams.target.FillNormal(r.TargetNoise, update, uint64((goldenRows+i)*c.Act))
		x.streams.actor.FillNormal(r.ActorNoise, update, uint64((goldenRows+i)*c.Act))
		all = append(all, r)
	}
	return all
}

// TestUpdatesAgreeWithPyTorch compares the losses of ten updates, and all weights after the first
// and the last of them, from the same weights, bytes, shifts and noise: on real rows alone with the authors' own
// agent (testdata/authors.py imports it), and with synthetic ones, of which some lie beyond
// the range of tanh, and a cost of preactivations with the same written in PyTorch (testdata/golden.py). It covers
// the batch at once and in parts. The tolerance of 1e-4 allows for float32 sums in
// another order; a step moves a weight by ten times as much.
func TestUpdatesAgreeWithPyTorch(t *testing.T) {
	for kind, dreamt := range map[string]int{"": 0, "mixed-": 5} {
		var want said
		golden.Read(t, "testdata/"+kind+"golden.json", &want)
		if !golden.Writing() && len(want.Critic) != goldenUpdates {
			t.Fatalf("PyTorch made %d updates, want %d", len(want.Critic), goldenUpdates)
		}
		for name, slice := range map[string]int{"at once": goldenRows, "two parts": 3, "three parts": 2} {
			t.Run(kind+name, func(t *testing.T) { agrees(t, kind, dreamt, slice, &want) })
		}
	}
}

func agrees(t *testing.T, kind string, dreamt, slice int, want *said) {
	c := small()
	c.Slice = slice
	if dreamt > 0 {
		c.Preactivation = 0.1
	}
	x, f := newAgent(t, c, newDevice(t, 2)), newFilm(c, 20)
	s := newSession(x, f, goldenRows)
	s.dream(dreamt)
	golden.Given(t, "testdata/"+kind+"input.json", goldenInput(t, x, f, &s.work))
	if golden.Writing() {
		return
	}
	for i := range len(want.Critic) {
		made := s.update(t)
		golden.Near(t, "critic loss", made.Losses.Critic, want.Critic[i], 1e-4)
		golden.Near(t, "actor loss", made.Losses.Actor, want.Actor[i], 1e-4)
		golden.Near(t, "mean value", made.Losses.QMean, want.QMean[i], 1e-4)
		if i == 0 || i == goldenUpdates-1 {
			compare(t, x.nets.state(), want.After[strconv.Itoa(i+1)])
		}
	}
}

func compare(t *testing.T, state []*op.Tensor, want [][]float32) {
	t.Helper()
	if len(want) != len(state) {
		t.Fatalf("PyTorch has %d tensors, the agent %d", len(want), len(state))
	}
	for i, p := range state {
		worst := 0.0
		for j, v := range p.Data {
			worst = max(worst, math.Abs(float64(v)-float64(want[i][j])))
		}
		if !(worst <= 1e-4) {
			t.Errorf("%s is %g from PyTorch's", p.Name, worst)
		}
	}
}
