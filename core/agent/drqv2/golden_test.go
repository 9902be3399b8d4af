package drqv2

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/replay"
)

var writeInput = flag.Bool("golden", false, "write what testdata/golden.py computes from")

// golden is an agent's start and what it learns from: everything that PyTorch needs for the
// same updates.
type golden struct {
	Side, Stack, Pad, Channels, Feature int
	Strides, Hidden                     []int
	Rates                               agent.Rates
	Clip                                float64
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
	Sigma float64
	Rows  []goldenRow
}

type goldenRow struct {
	Stack, Next             []int // frames
	Shift                   [4]int
	Action                  []float32
	Return, Discount        float32
	TargetNoise, ActorNoise []float32
}

// said is what PyTorch made of it.
type said struct {
	Critic, Actor, QMean []float64 // of each update
	After                map[string][][]float32
}

const goldenRows, goldenUpdates = 6, 10

// goldenInput describes the first updates of an agent on a film.
func goldenInput(t *testing.T, x *Agent, f *film, rates agent.Rates) golden {
	c := x.config
	in := golden{
		Side: c.Pixels.Side, Stack: c.Pixels.Stack, Pad: c.Pixels.Pad, Channels: c.Pixels.Channels, Feature: c.Pixels.Feature,
		Strides: c.Pixels.Strides, Hidden: c.Hidden, Rates: rates, Clip: c.NoiseClip,
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
		in.Updates = append(in.Updates, u)
	}
	return in
}

// Losses of ten updates and all weights after the first and the last of them, against
// PyTorch 1.13 from the same weights, bytes, shifts and noise: with the batch at once and
// in parts. testdata/golden.py made the numbers, with the augmentation as DrQ-v2 has it, by
// bilinear sampling. The tolerance of 1e-4 is float32's in another order of sums; a step
// moves a weight by ten times as much.
func TestUpdatesAgreeWithPyTorch(t *testing.T) {
	dev := newDevice(t, 2)
	var want said
	read(t, "testdata/golden.json", &want)
	if !*writeInput && len(want.Critic) != goldenUpdates {
		t.Fatalf("PyTorch made %d updates, want %d", len(want.Critic), goldenUpdates)
	}
	for name, slice := range map[string]int{"at once": goldenRows, "two parts": 3, "three parts": 2} {
		t.Run(name, func(t *testing.T) {
			c := small()
			c.Slice = slice
			x, f := newAgent(t, c, dev), newFilm(c, 20)
			s := newSession(x, f, goldenRows)
			checkInput(t, goldenInput(t, x, f, s.work.Rates))
			for i := range len(want.Critic) {
				made := s.update(t)
				near(t, "critic loss", made.Losses.Critic, want.Critic[i])
				near(t, "actor loss", made.Losses.Actor, want.Actor[i])
				near(t, "mean value", made.Losses.QMean, want.QMean[i])
				if after, told := want.After[map[int]string{0: "1", goldenUpdates - 1: "10"}[i]]; told {
					compare(t, x.nets.state(), after)
				}
			}
		})
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

// checkInput holds what PyTorch was given to what the agent has.
func checkInput(t *testing.T, in golden) {
	t.Helper()
	file := "testdata/input.json"
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if *writeInput {
		if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(have), b) {
		t.Fatal("PyTorch was given another agent: go test -run PyTorch -golden, then python3 testdata/golden.py")
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-4*(1+math.Abs(want))) {
		t.Errorf("%s is %v, PyTorch says %v", what, got, want)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}
