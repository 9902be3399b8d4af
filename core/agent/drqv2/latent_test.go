package drqv2

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/golden"
	"pgrlab/core/testing/mirrortest"
)

var _ relevance.Values = (*Latent)(nil)

func newLatent(t testing.TB, c Config, dev device.Device) *Latent {
	t.Helper()
	x, err := NewLatent(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// numbers returns the numbers of all tensors.
func numbers(all []*op.Tensor) (out []float32) {
	for _, p := range all {
		out = append(out, p.Data...)
	}
	return out
}

// Synthetic rows alone move the heads and nothing else; with real rows beside them everything
// moves.
func TestSyntheticRowsMoveTheHeadsAlone(t *testing.T) {
	for _, real := range []int{0, 6} {
		x := newAgent(t, small(), newDevice(t, 1))
		s := newSession(x, newFilm(small(), 30), real)
		s.dream(6)
		body := slices.Concat(x.nets.encoderParams(), x.nets.actor.params(), x.nets.critic.params())
		for name, moves := range map[string]bool{"body": real > 0, "policy": true, "critics": true} {
			of := map[string][]*op.Tensor{"body": body, "policy": x.nets.policyHead(), "critics": x.nets.headParams()}[name]
			before := numbers(of)
			if s.update(t); slices.Equal(before, numbers(of)) == moves {
				t.Errorf("%d real rows and 6 synthetic ones: of %s that it moves is %v", real, name, !moves)
			}
		}
	}
}

// Mixed updates do not depend on the number of workers, and a steady one allocates nothing.
func TestMixedUpdates(t *testing.T) {
	for _, slice := range []int{4, 12} {
		c := small()
		c.Slice = slice
		var agents []*Agent
		for threads := range 2 {
			x := newAgent(t, c, newDevice(t, threads+1))
			s := newSession(x, newFilm(c, 30), 12)
			s.dream(10)
			for range 10 {
				s.update(t)
			}
			m := replay.Mix{Real: 12, Synthetic: 10}
			u, err := x.updater(m)
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(20, func() {
				x.now = progress{mix: m}
				for done := range u.parts + 1 {
					if _, _, err := x.slice(&s.work, done); err != nil {
						t.Fatal(err)
					}
				}
			}); n > 0 {
				t.Errorf("slices of %d rows: an update allocates %v times", slice, n)
			}
			x.now = progress{}
			agents = append(agents, x)
		}
		sameBits(t, agents[0], agents[1])
	}
}

// reel returns a memory of frames with several episodes, one of which has a true end.
func reel(c Config, episodes, length int) *experience.Log {
	size := c.Pixels.Side * c.Pixels.Side * agent.Colours
	f, stream := experience.NewLog(experience.Shape{Bytes: size, Act: c.Act, Copies: 2}, experience.Keep{Looks: 1000}), rng.New(9, "reel")
	frame, shade := make([]byte, size), make([]float32, size)
	draw := func(n uint64) []byte {
		stream.FillUniform(shade, n, 0)
		for i, v := range shade {
			frame[i] = byte(255 * v)
		}
		return frame
	}
	n := uint64(0)
	for e := range episodes {
		for copy := range 2 {
			f.Begin(copy, experience.Look{Frame: draw(n)})
			n++
			for i := range length {
				f.Add(copy, experience.Step{Action: []float32{float32(i) / 10, -0.5}, Reward: float32(i), Next: experience.Look{Frame: draw(n)}, End: endIf(e == 0 && i == length-1)})
				n++
			}
		}
	}
	return f
}

// encodes runs phase encode from one of its borders on.
func encodes(t *testing.T, l *Latent, w *agent.Work, done, total int) {
	t.Helper()
	for done < total {
		n, _, err := l.Phases()[1].Slice(w, done)
		if err != nil {
			t.Fatal(err)
		}
		done += n
	}
}

// D_real is the same whether it is made at once, by two workers, on a device with memory of its
// own, or by an agent that was loaded in the middle. Its rows equal those of a slow computation,
// one stack at a time.
func TestDRealOfLatents(t *testing.T) {
	c := small()
	c.Slice = 3
	f := reel(c, 3, 12)
	work := func() *agent.Work {
		return &agent.Work{Refit: true, Source: agent.BatchSource{Frames: experience.Frames{Log: f}, Real: replay.NewRing(c.latents(), 1000)}}
	}
	phase := func(l *Latent, w *agent.Work) int {
		total, err := l.Phases()[1].Start(w)
		if err != nil {
			t.Fatal(err)
		}
		return total
	}
	dev := newDevice(t, 1)
	l, w := newLatent(t, c, dev), work()
	w.Source.Real.Add(replay.Transition{Obs: make([]float32, 10), Act: make([]float32, 2), Next: make([]float32, 10)}) // from another refit
	total := phase(l, w)
	if encodes(t, l, w, 0, total); total != 2*(12+2*10) || w.Source.Real.Len() != total {
		t.Fatalf("%d rows, D_real has %d", total, w.Source.Real.Len())
	}
	for name, other := range map[string]*Latent{"two workers": newLatent(t, c, newDevice(t, 2)), "apart": newLatent(t, c, mirrortest.New(dev))} {
		v := work()
		encodes(t, other, v, 0, phase(other, v))
		sameRows(t, name, w.Source.Real, v.Source.Real)
	}
	half := work()
	phase(l, half)
	n, _, err := l.Phases()[1].Slice(half, 0)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := l.Save(&file); err != nil {
		t.Fatal(err)
	}
	again, whole := newLatent(t, c, dev), bytes.Clone(file.Bytes())
	file.WriteString("more")
	if err := again.Load(&file); err != nil || file.String() != "more" {
		t.Fatal(err, file.String())
	}
	encodes(t, again, half, n, total)
	sameRows(t, "loaded", w.Source.Real, half.Source.Real)
	for _, n := range []int{len(whole) - 1, len(whole) - 30} {
		if newLatent(t, c, dev).Load(bytes.NewReader(whole[:n])) == nil {
			t.Errorf("%d of %d bytes are let pass", n, len(whole))
		}
	}
	slowRows(t, l, w.Source.Real, f)
}

func sameRows(t *testing.T, what string, a, b *replay.Ring) {
	t.Helper()
	if a.Len() != b.Len() {
		t.Fatalf("%s: %d rows and %d", what, a.Len(), b.Len())
	}
	for i := range a.Len() {
		if !slices.Equal(a.Row(i), b.Row(i)) {
			t.Fatalf("%s: row %d is %v and %v", what, i, a.Row(i), b.Row(i))
		}
	}
}

// slowRows compares D_real with windows that are read one by one.
func slowRows(t *testing.T, l *Latent, real *replay.Ring, f *experience.Log) {
	t.Helper()
	c := l.config
	row := replay.FrameRow{Stack: make([][]byte, c.Pixels.Stack), Next: make([][]byte, c.Pixels.Stack)}
	ended := 0
	for i := range real.Len() {
		if err := (experience.Frames{Log: f}).Window(&row, &l.encoded, i, c.Gamma); err != nil {
			t.Fatal(err)
		}
		z, err := l.Encode([][][]byte{row.Stack})
		if err != nil {
			t.Fatal(err)
		}
		next, err := l.Encode([][][]byte{row.Next})
		if err != nil {
			t.Fatal(err)
		}
		done := float32(0)
		if row.Discount == 0 {
			done, ended = 1, ended+1
		}
		want := slices.Concat(z, row.Action, []float32{row.Return}, next, []float32{done})
		if !slices.Equal(real.Row(i), want) {
			t.Fatalf("row %d is %v, want %v", i, real.Row(i), want)
		}
	}
	if ended != 2*c.NStep {
		t.Errorf("%d rows come to a true end, want %d", ended, 2*c.NStep)
	}
}

// The values of latents are those that the update would compute for a row of D_real: the critics'
// average at the policy's mean. After a true end the value of the next state counts nothing.
func TestValuesOfLatents(t *testing.T) {
	c := small()
	l := newLatent(t, c, newDevice(t, 1))
	s := newSession(l.Agent, newFilm(c, 30), 6)
	s.dream(6)
	for range 20 {
		s.update(t)
	}
	shape := c.latents()
	from := s.work.Source.Synthetic
	b := replay.NewBatch(shape, from.Len())
	from.GatherRange(b, 0, from.Len())
	q, delta := make([]float32, b.Size), make([]float32, b.Size)
	if err := l.Q(q, b.Obs, b.Size); err != nil {
		t.Fatal(err)
	}
	if err := l.TDError(delta, b, b.Size); err != nil {
		t.Fatal(err)
	}
	for i := range b.Size {
		z, next := b.Obs[i*10:i*10+10], b.Next[i*10:i*10+10]
		golden.Near(t, "value", float64(q[i]), slowValue(l, "critics", z, slowPolicy(l, z)), 1e-4)
		y := float64(b.Reward[i])
		if b.Done[i] == 0 {
			y += math.Pow(c.Gamma, float64(c.NStep)) * slowValue(l, "target", next, slowPolicy(l, next))
		}
		golden.Near(t, "error", float64(delta[i]), y-slowValue(l, "critics", z, b.Act[i*2:i*2+2]), 1e-4)
	}
	if l.Q(q, b.Obs, b.Size+1) == nil || l.TDError(delta, b, b.Size+1) == nil {
		t.Error("more rows than there are")
	}
}

// slowPolicy computes tanh μ of z_a, slowValue the mean over critics of z_c, both in float64.
func slowPolicy(l *Latent, z []float32) (action []float32) {
	for _, v := range slowMLP(l, "policy", 0, clamped(z[5:])) {
		action = append(action, float32(math.Tanh(v)))
	}
	return action
}

func slowValue(l *Latent, net string, z, action []float32) float64 {
	in, sum := clamped(z[:5]), 0.0
	for _, a := range action {
		in = append(in, float64(a))
	}
	for k := range 2 {
		sum += slowMLP(l, net, k, in)[0] / 2
	}
	return sum
}

func clamped(z []float32) (out []float64) {
	for _, v := range z {
		out = append(out, max(-1, min(1, float64(v))))
	}
	return out
}

// slowMLP evaluates one member of a network, by the names of its parameters.
func slowMLP(l *Latent, net string, member int, x []float64) []float64 {
	named := map[string]*op.Tensor{}
	for _, p := range l.nets.state() {
		named[p.Name] = p
	}
	for layer := 1; ; layer++ {
		name := net + "." + string(rune('0'+layer))
		w, b := named[name+".w"], named[name+".b"]
		if w == nil {
			return x
		}
		shape := w.Shape
		in, out := shape[len(shape)-2], shape[len(shape)-1]
		y := make([]float64, out)
		for j := range out {
			y[j] = float64(b.Data[member*out+j])
			for i := range in {
				y[j] += x[i] * float64(w.Data[(member*in+i)*out+j])
			}
			if named[net+"."+string(rune('1'+layer))+".w"] != nil {
				y[j] = max(0, y[j])
			}
		}
		x = y
	}
}

// The memory forecast of an agent beside a generator is never much less than what the agent takes,
// once it has made updates before and after the first generation and has answered every kind of
// question.
func TestMemoryBesideAGeneratorIsForecast(t *testing.T) {
	c := small()
	c.Pixels = agent.Pixels{Side: 64, Stack: 3, Pad: 4, Channels: 32, Strides: []int{2, 2, 1, 1}, Feature: 50}
	c.Hidden, c.Slice = []int{128, 128}, 16
	before := heap()
	l := newLatent(t, c, newDevice(t, 1))
	if err := l.Prepare(agent.Uses{Mixes: []replay.Mix{{Real: 64}}, Copies: 1, Evaluated: 10}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.updater(replay.Mix{Real: 32, Synthetic: 32}); err != nil {
		t.Fatal(err)
	}
	b := replay.NewBatch(c.latents(), 1)
	if err := l.Q(b.Reward, b.Obs, 1); err != nil {
		t.Fatal(err)
	}
	if err := l.TDError(b.Reward, b, 1); err != nil {
		t.Fatal(err)
	}
	took, said := heap()-before, c.latentMemory(64, 10)
	if took > 1.1*said || took < said/4 {
		t.Errorf("%.1f MB were taken, %.1f MB forecast", took/1e6, said/1e6)
	}
	runtime.KeepAlive(l)
}

// endIf is a true end, or none.
func endIf(ended bool) experience.End {
	if ended {
		return experience.Terminated
	}
	return experience.Continues
}
