package relevance

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
)

// choosing has three actions, of which one is chosen.
var choosing = replay.Shape{Obs: 4, Act: 3}

func smallFrameICM() ICMConfig {
	c := DefaultICM()
	c.On, c.Hidden, c.Batch, c.LR, c.ScoreRows = OnFrames, 16, 4, 1e-3, 3
	return c
}

func newFrameICM(t testing.TB, c ICMConfig, f Frames, o cpu.Options) *FrameICM {
	t.Helper()
	dev := cputest.New(t, o)
	m, err := NewFrameICM(c, choosing, f, dev, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// acted makes a batch of rows, each with stacks of frames and an action.
func acted(rows int, f Frames, stream uint64) *replay.Batch {
	b := replay.NewBatch(choosing, rows)
	b.Frames = replay.NewFrameRows(rows, f.Stack)
	film(b, f.Side, stream)
	act(b)
	return b
}

// act chooses an action in each row.
func act(b *replay.Batch) {
	for i := range b.Frames {
		b.Frames[i].Action = make([]float32, choosing.Act)
		b.Frames[i].Action[i%choosing.Act] = 1
	}
}

// goldenFrames writes the frames of testdata/icm.py.
func goldenFrames(stack [][]byte, side, row int) {
	for k := range stack {
		stack[k] = make([]byte, side*side*3)
		for j := range stack[k] {
			i := k*side*side*3 + j
			stack[k][j] = byte((i*i/7 + 31*i*(row+1) + 77*row) % 256)
		}
	}
}

// Scores, the loss, its gradients and updates agree with PyTorch's, for upright images with
// TensorFlow's SAME padding. The tolerances allow for sums in float32.
func TestFrameICMAgainstPyTorch(t *testing.T) {
	var all map[string]struct{ Before, Norms, Products, Losses, After []float64 }
	golden.Read(t, "testdata/icm.json", &all)
	for _, side := range []int{42, 63, 84} {
		f, said := Frames{Side: side, Stack: 2}, all[fmt.Sprint(side)]
		m := newFrameICM(t, smallFrameICM(), f, cpu.Options{Threads: 1})
		if len(said.Norms) != len(m.net.params()) || len(said.Products) != len(said.Norms) || len(said.Losses) == 0 {
			t.Fatalf("PyTorch has %d gradients and %d losses at %d pixels", len(said.Norms), len(said.Losses), side)
		}
		for i, p := range m.net.params() {
			goldenWeights(p, i)
		}
		if err := plan.Push(m.device, m.state...); err != nil {
			t.Fatal(err)
		}
		b := m.Batch()
		for row := range b.Frames {
			goldenFrames(b.Frames[row].Stack, side, row)
			goldenFrames(b.Frames[row].Next, side, 10+row)
		}
		act(b)
		scores := func(when string, want []float64) {
			got := make([]float32, 4)
			if err := m.Score(got, b, 4); err != nil {
				t.Fatal(err)
			}
			if len(want) != len(got) {
				t.Fatalf("PyTorch scored %d rows at %d pixels, %s, want %d", len(want), side, when, len(got))
			}
			for i := range want {
				near(t, fmt.Sprintf("F of row %d at %d pixels, %s", i, side, when), float64(got[i]), want[i], 1e-4*want[i])
			}
		}
		scores("before", said.Before)
		for i, g := range gradients(t, m, b) {
			norm, product := 0.0, 0.0
			for j, v := range g {
				norm += float64(v) * float64(v)
				product += float64(v) * float64(j*37%17-8)
			}
			name := m.net.params()[i].Name
			near(t, fmt.Sprintf("gradient of %s at %d pixels", name, side), math.Sqrt(norm), said.Norms[i], 1e-4*said.Norms[i])
			near(t, fmt.Sprintf("its product, %s at %d pixels", name, side), product, said.Products[i], 1e-3*said.Norms[i])
		}
		for update, want := range said.Losses {
			loss, err := m.Train()
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("loss %d at %d pixels", update, side), loss, want, 1e-4*want)
		}
		scores("after", said.After)
	}
}

// gradients returns the gradients of an update on a batch, by weight.
func gradients(t *testing.T, m *FrameICM, b *replay.Batch) (all [][]float32) {
	t.Helper()
	var in inputs
	var loss *op.Node
	g, err := op.Build("gradients", func(g *op.Graph) { in, loss = m.net.loss(g, m.config) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, plan.Spec{Loss: loss, Gradients: m.net.params()}, m.device)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m.pictures.write(in.of(p), b.Frames)
	if err := p.Run(0); err != nil {
		t.Fatal(err)
	}
	for _, w := range m.net.params() {
		gradient, err := p.Gradient(w)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(gradient))
	}
	return all
}

// Weights are initialised as in the original: convolutions within Glorot's bound, no bias, and
// columns of norm 0.01 in the layers that follow them.
func TestFrameICMBeginsAsTheOriginal(t *testing.T) {
	m := newFrameICM(t, smallFrameICM(), Frames{Side: 42, Stack: 1}, cpu.Options{Threads: 1})
	if m.net.features != 288 || m.PaperScale() != 144 {
		t.Errorf("%d features, F of the paper's scale is %g times ours; want 288 and 144", m.net.features, m.PaperScale())
	}
	for i, channels := range []int{3, 32, 32, 32} {
		bound, most := math.Sqrt(6/float64(9*channels+9*32)), 0.0
		for _, v := range m.net.encoder[i].W.Data {
			most = max(most, math.Abs(float64(v)))
		}
		if most > bound || most < 0.95*bound {
			t.Errorf("weights of convolution %d are up to %g, want %g", i+1, most, bound)
		}
	}
	for _, l := range append(m.net.forward.Layers, m.net.inverse.Layers...) {
		for column := range l.W.Shape[1] {
			square := 0.0
			for i := column; i < len(l.W.Data); i += l.W.Shape[1] {
				square += float64(l.W.Data[i]) * float64(l.W.Data[i])
			}
			near(t, "norm of a column of "+l.W.Name, math.Sqrt(square), 0.01, 1e-7)
		}
	}
	for _, p := range m.net.params() {
		if strings.HasSuffix(p.Name, ".b") && slices.ContainsFunc(p.Data, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s is %v", p.Name, p.Data)
		}
	}
}

// Networks and optimiser do not depend on the workers: one and two compute the same bits, and a
// model loaded from a file goes on like the one saved.
func TestFrameICMIsTheSameByAnyWorkers(t *testing.T) {
	f := Frames{Side: 50, Stack: 1}
	for _, family := range kernel.Available() {
		var said [2][]float32
		var files [2][]byte
		for i, threads := range []int{1, 2} {
			options := cpu.Options{Threads: threads, Family: family}
			train := func(m *FrameICM, from, to uint64) (scores []float32) {
				for update := from; update < to; update++ {
					film(m.Batch(), f.Side, update)
					act(m.Batch())
					if _, err := m.Train(); err != nil {
						t.Fatal(err)
					}
				}
				scores = make([]float32, 4)
				if err := m.Score(scores, acted(4, f, 9), 4); err != nil {
					t.Fatal(err)
				}
				return scores
			}
			m := newFrameICM(t, smallFrameICM(), f, options)
			train(m, 0, 1)
			var file bytes.Buffer
			if err := m.Save(&file); err != nil {
				t.Fatal(err)
			}
			files[i] = slices.Clone(file.Bytes())
			other := newFrameICM(t, smallFrameICM(), f, options)
			if err := other.Load(&file); err != nil || file.Len() > 0 {
				t.Fatalf("%v, %d bytes are left", err, file.Len())
			}
			said[i] = train(m, 1, 2)
			if again := train(other, 1, 2); !slices.Equal(again, said[i]) {
				t.Errorf("%v: after loading it says %v, else %v", family, again, said[i])
			}
		}
		if !slices.Equal(said[0], said[1]) || !bytes.Equal(files[0], files[1]) {
			t.Errorf("%v: by one worker %v, by two %v", family, said[0], said[1])
		}
	}
}

// A program for few rows scores them. Wide products of few rows are summed in another order, so
// that F is the same up to rounding.
func TestFewFramesScoreAsAmongMany(t *testing.T) {
	c, f := smallFrameICM(), Frames{Side: 42, Stack: 1}
	c.ScoreRows = 40
	m := newFrameICM(t, c, f, cpu.Options{Threads: 1})
	b, all := acted(33, f, 5), make([]float32, 33)
	if err := m.Score(all, b, 33); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{1, 3, 8, 3, 16} {
		few := make([]float32, 33)
		if err := m.Score(few, b, rows); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			near(t, fmt.Sprintf("F of row %d of %d", i, rows), float64(few[i]), float64(all[i]), 1e-5*float64(all[i]))
		}
		if few[rows] != 0 {
			t.Errorf("of %d rows one after them is scored", rows)
		}
	}
	if s, err := m.scorer(3); m.scorers.Len() != 1+4 || err != nil || s.Rows != 4 {
		t.Errorf("%d programs, want 5, four of them for few rows: %v", m.scorers.Len(), err)
	}
}

// F of respawns is 0; F of rows without frames or actions is an error.
func TestFrameICMOfOddRows(t *testing.T) {
	f := Frames{Side: 42, Stack: 1}
	m := newFrameICM(t, smallFrameICM(), f, cpu.Options{Threads: 1})
	b, got := acted(5, f, 2), make([]float32, 5)
	b.Notes = make([]replay.Note, 5)
	b.Notes[3].Respawned = true
	if err := m.Score(got, b, 5); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if (v == 0) != (i == 3) {
			t.Errorf("F of row %d is %g", i, v)
		}
	}
	b.Frames[1].Action = nil
	if err := m.Score(got, b, 5); err == nil || !strings.Contains(err.Error(), "row 1 of frames has 0 actions, want 3") {
		t.Errorf("a row without an action: %v", err)
	}
	if err := m.Score(got, replay.NewBatch(choosing, 2), 2); !errors.Is(err, replay.ErrUnseen) {
		t.Errorf("rows without frames: %v", err)
	}
}

func TestFrameICMDoesNotAllocate(t *testing.T) {
	m := newFrameICM(t, smallFrameICM(), Frames{Side: 84, Stack: 1}, cpu.Options{Threads: 2})
	film(m.Batch(), 84, 1)
	act(m.Batch())
	dst := make([]float32, 4)
	if n := testing.AllocsPerRun(20, func() {
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
		if err := m.Score(dst, m.Batch(), 4); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an update and score", n)
	}
}

// slide draws stripes, shifted by at.
func slide(side, at int) []byte {
	frame := make([]byte, side*side*3)
	for i := range frame {
		if frame[i] = 40; (i/3%side+at)%12 < 6 {
			frame[i] = 200
		}
	}
	return frame
}

// stripes fills rows whose action says how far the stripes move; other is added to that distance.
func stripes(b *replay.Batch, side int, stream uint64, other int) {
	q := rng.New(stream, "stripes").At(0)
	act(b)
	for i := range b.Frames {
		at, by := q.IntN(12), 3*slices.Index(b.Frames[i].Action, 1)+other
		b.Frames[i].Stack[0], b.Frames[i].Next[0] = slide(side, at), slide(side, at+by)
	}
}

// Once the model has learned where actions lead, F of transitions that the action explains has fallen,
// and F of those that it does not explain is far higher.
func TestFrameICMShowsWhatActionsExplain(t *testing.T) {
	f, c := Frames{Side: 42, Stack: 1}, smallFrameICM()
	c.Hidden, c.Batch, c.ScoreRows, c.LR = 64, 18, 24, 2e-3
	m := newFrameICM(t, c, f, cpu.Options{Threads: 1})
	mean := func(other int) (mean float64) {
		b, dst := replay.NewBatch(choosing, 24), make([]float32, 24)
		b.Frames = replay.NewFrameRows(24, 1)
		stripes(b, f.Side, 99, other)
		if err := m.Score(dst, b, 24); err != nil {
			t.Fatal(err)
		}
		for _, v := range dst {
			mean += float64(v) / 24
		}
		return mean
	}
	before := mean(0)
	for update := range uint64(150) {
		stripes(m.Batch(), f.Side, update, 0)
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
	}
	led, free := mean(0), mean(6)
	t.Logf("F of what actions lead to is %.3g, before training %.3g; of what they do not %.3g", led, before, free)
	if !(led < before/10) || !(led < free/10) {
		t.Errorf("F of what actions lead to is %g, before training %g; of what they do not %g", led, before, free)
	}
}
