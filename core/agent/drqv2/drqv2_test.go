package drqv2

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
)

// small configures an agent that learns in milliseconds.
func small() Config {
	c := DefaultConfig(2)
	c.Pixels = agent.Pixels{Side: 16, Stack: 2, Pad: 2, Channels: 4, Strides: []int{2, 1}, Feature: 5}
	c.Hidden, c.NoiseSteps, c.Slice = []int{8, 8}, 100, 6
	c.NoiseClip = 1.5 // so that actions meet their bounds
	return c
}

// film is one long episode of random frames, actions and rewards.
type film struct {
	agent.Frames // an update needs only Draw and Drawable
	frames       [][]byte
	actions      [][]float32
	rewards      []float32
	stream       rng.Stream
}

func newFilm(c Config, steps int) *film {
	f := &film{stream: rng.New(5, "film")}
	for i := range steps + 1 {
		frame, action := make([]byte, c.Pixels.Side*c.Pixels.Side*agent.Colours), make([]float32, c.Act)
		q := f.stream.Sub("frames").At(uint64(i))
		for j := 0; j+4 <= len(frame); j += 4 {
			binary.LittleEndian.PutUint32(frame[j:], q.Uint32())
		}
		f.stream.Sub("actions").FillUniform(action, uint64(i), 0)
		for j, u := range action {
			action[j] = 2*u - 1
		}
		f.frames, f.actions = append(f.frames, frame), append(f.actions, action)
		f.rewards = append(f.rewards, float32(q.Float64()))
	}
	return f
}

// Draw does what agent.Frames asks.
func (f *film) Draw(dst *replay.FrameRow, n int, gamma float64, occasion uint64, row int) error {
	words := f.stream.Block(occasion, uint64(row))
	t := int(words[0] % uint32(len(f.frames)-n))
	f.stack(dst.Stack, t)
	f.stack(dst.Next, t+n)
	dst.Action, dst.Return, dst.Discount = f.actions[t], 0, 1
	for i := range n {
		dst.Return += dst.Discount * f.rewards[t+i]
		dst.Discount *= float32(gamma)
	}
	if words[1]%4 == 0 { // a true end
		dst.Discount = 0
	}
	return nil
}

// Drawable says that there are rows to draw, from the first env step on.
func (f *film) Drawable(n, stack int) bool { return true }

func (f *film) stack(dst [][]byte, t int) {
	for i := range dst {
		dst[i] = f.frames[max(0, t-len(dst)+1+i)]
	}
}

// stacks returns the film's first n stacks.
func (f *film) stacks(c Config, n int) [][][]byte {
	all := make([][][]byte, n)
	for i := range all {
		all[i] = make([][]byte, c.Pixels.Stack)
		f.stack(all[i], i)
	}
	return all
}

func newDevice(t testing.TB, threads int) *cpu.Device {
	t.Helper()
	return cputest.New(t, cpu.Options{Threads: threads})
}

func newAgent(t testing.TB, c Config, dev device.Device) *Agent {
	t.Helper()
	x, err := New(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// session drives the phase of an agent as an experiment does.
type session struct {
	x     *Agent
	work  agent.Work
	total int
	done  int // slices of the update under way
	made  *agent.UpdateResult
}

func newSession(x *Agent, frames agent.Frames, rows int) *session {
	rates := DefaultRates
	rates.LRActor, rates.LRCritic, rates.Tau = 1e-3, 1e-3, 0.05
	return &session{x: x, work: agent.Work{Enough: true, Rates: rates, Source: agent.BatchSource{Frames: frames, Mix: replay.Mix{Real: rows}}}}
}

// dream adds so many synthetic rows to each batch. Some of their latents lie beyond the range of
// tanh, and some rows have a true end.
func (s *session) dream(rows int) {
	if rows == 0 {
		return
	}
	shape := s.x.config.latents()
	ring, stream := replay.NewRing(shape, 40), rng.New(6, "dreams")
	for i := range uint64(40) {
		row := make([]float32, shape.Width())
		stream.FillUniform(row, i, 0)
		for j := range row {
			row[j] = 2.2*row[j] - 1.1
		}
		row[len(row)-1] = 0
		if i%4 == 0 {
			row[len(row)-1] = 1
		}
		ring.AddRows(row)
	}
	s.work.Source.Synthetic, s.work.Source.Mixer, s.work.Source.Mix.Synthetic = ring, replay.NewMixer(rng.New(7, "mixer")), rows
}

// slice makes the next slice; made is nil except after the last slice of an update.
func (s *session) slice() (made *agent.UpdateResult, err error) {
	phase := s.x.Phases()[0]
	if s.done == 0 {
		s.work.Step = 2 * (int(s.x.Updates()) + 1)
		if !phase.Due(&s.work) {
			return nil, fmt.Errorf("env step %d has no update", s.work.Step)
		}
		if s.total, err = phase.Start(&s.work); err != nil {
			return nil, err
		}
	}
	n, all, err := phase.Slice(&s.work, s.done)
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		s.made = &all[0]
	}
	if s.done += n; s.done < s.total {
		return nil, nil
	}
	s.done = 0
	return s.made, s.made.Err
}

// update makes the remaining slices of an update.
func (s *session) update(t testing.TB) *agent.UpdateResult {
	t.Helper()
	for {
		if made, err := s.slice(); err != nil {
			t.Fatal(err)
		} else if made != nil {
			return made
		}
	}
}

// learned returns all tensors that an agent learns.
func learned(x *Agent) (all []*op.Tensor) {
	for _, some := range [][]*op.Tensor{x.nets.state(), x.criticAdam.M, x.criticAdam.V, x.actorAdam.M, x.actorAdam.V} {
		all = append(all, some...)
	}
	return all
}

func sameBits(t *testing.T, a, b *Agent) {
	t.Helper()
	x, y := learned(a), learned(b)
	for i := range x {
		for j := range x[i].Data {
			if math.Float32bits(x[i].Data[j]) != math.Float32bits(y[i].Data[j]) {
				t.Fatalf("%s: number %d is %v and %v", x[i].Name, j, x[i].Data[j], y[i].Data[j])
			}
		}
	}
	if a.updates != b.updates || a.criticAdam.T != b.criticAdam.T || a.actorAdam.T != b.actorAdam.T {
		t.Fatal("the counters differ")
	}
}
