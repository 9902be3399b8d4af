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
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/allocs"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
)

var little = replay.Shape{Obs: 4, Act: 2}

func smallFrameRND() RNDConfig {
	return RNDConfig{Hidden: 16, Features: 8, Batch: 4, LR: 1e-3, ScoreRows: 3}
}

func newFrameRND(t testing.TB, c RNDConfig, side int, o cpu.Options) *FrameRND {
	t.Helper()
	dev := cputest.New(t, o)
	m, err := NewFrameRND(c, little, Frames{Side: side, Stack: 3}, dev, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// filmed makes a batch of rows with frames of their own.
func filmed(rows, side int, stream uint64) *replay.Batch {
	b := replay.NewBatch(little, rows)
	b.Frames = replay.NewFrameRows(rows, 3)
	film(b, side, stream)
	return b
}

// film gives a batch new frames and actions: noise around one picture in half of the rows and
// around a brighter one in the others, so that pixels carry information.
func film(b *replay.Batch, side int, stream uint64) {
	s := rng.New(stream, "film")
	for i := range b.Frames {
		q := s.At(uint64(i))
		for _, stack := range [][][]byte{b.Frames[i].Stack, b.Frames[i].Next} {
			for k := range stack {
				stack[k] = make([]byte, side*side*3)
				for j := range stack[k] {
					stack[k][j] = byte(100*(i%2) + j%side + q.IntN(40))
				}
			}
		}
		for k := range 2 {
			b.Act[2*i+k] = float32(2*q.Float64() - 1)
		}
	}
}

// The networks' scores and the whitening agree with PyTorch.
func TestFrameRNDAgainstPyTorch(t *testing.T) {
	var said map[string][]float64
	golden.Read(t, "testdata/rnd.json", &said)
	for _, side := range []int{36, 64, 84} {
		m := newFrameRND(t, smallFrameRND(), side, cpu.Options{Threads: 1})
		for network, n := range []frameNet{m.target, m.predictor} {
			for i, p := range n.params() {
				goldenWeights(p, 100*network+i)
			}
		}
		b := filmed(4, side, 1)
		for row := range b.Frames {
			for k := range 3 {
				for j := range b.Frames[row].Next[k] {
					i := k*side*side*3 + j
					b.Frames[row].Next[k][j] = byte((i*i/7 + 31*i*(row+1) + 77*row) % 256)
				}
			}
		}
		m.whitener.see(b.Frames)
		got := make([]float32, 4)
		if err := m.Score(got, b, 4); err != nil {
			t.Fatal(err)
		}
		all := said[fmt.Sprint(side)]
		if len(all) != len(got) {
			t.Fatalf("PyTorch scored %d rows at %d pixels, want %d", len(all), side, len(got))
		}
		for i, want := range all {
			near(t, fmt.Sprintf("score %d at %d pixels", i, side), float64(got[i]), want, 1e-4*want)
		}
	}
}

// goldenWeights sets the weights of testdata/rnd.py.
func goldenWeights(p *op.Tensor, number int) {
	fan := 3000.0 // for biases
	if len(p.Shape) == 2 {
		fan = float64(p.Shape[0])
	}
	for i := range p.Data {
		p.Data[i] = float32((float64((i*7919+number*104729+13)%2003)/1001 - 1) * math.Sqrt(3/fan))
	}
}

// The whitener of frames agrees with a whitener of vectors that have a number for each byte.
func TestFrameWhitenerAgainstWhitener(t *testing.T) {
	const side, rows = 5, 6
	m := newFrameWhitener("frames", Frames{Side: side, Stack: 3}, newDevice(t))
	plain := newWhitener("plain", m.width)
	x, got, want := make([]float32, rows*m.width), make([]float32, rows*m.width), make([]float32, rows*m.width)
	for batch := range uint64(3) {
		b := filmed(rows, side, batch)
		for i := range rows {
			b.Frames[i].Next[1][7] = 9 // a pixel that never moves
			for k, frame := range b.Frames[i].Next {
				for j, v := range frame {
					x[i*m.width+j/3*9+k*3+j%3] = float32(v)
				}
			}
		}
		m.see(b.Frames)
		plain.see(x, rows)
		m.prepare()
		m.whiten(got, b.Frames)
		plain.whiten(want, x, rows)
		for i := range got {
			near(t, fmt.Sprintf("number %d", i), float64(got[i]), float64(want[i]), 1e-4)
		}
	}
	near(t, "count", m.count(), 18, 0)
}

// Networks, whitening and optimiser do not depend on the workers or on how kernels share their
// work: one worker and two compute the same bits, also after loading from a file.
func TestFrameRNDIsTheSameByAnyWorkers(t *testing.T) {
	for _, family := range kernel.Available() {
		var said [2][]float32
		var files [2][]byte
		for i, threads := range []int{1, 2} {
			m := newFrameRND(t, smallFrameRND(), 36, cpu.Options{Threads: threads, Family: family})
			for update := range uint64(3) {
				film(m.Batch(), 36, update)
				if _, err := m.Train(); err != nil {
					t.Fatal(err)
				}
			}
			said[i] = make([]float32, 7)
			if err := m.Score(said[i], filmed(7, 36, 9), 7); err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := m.Save(&file); err != nil {
				t.Fatal(err)
			}
			files[i] = slices.Clone(file.Bytes())
			other := newFrameRND(t, smallFrameRND(), 36, cpu.Options{Threads: threads, Family: family})
			if err := other.Load(&file); err != nil {
				t.Fatal(err)
			}
			again := make([]float32, 7)
			if err := other.Score(again, filmed(7, 36, 9), 7); err != nil || !slices.Equal(again, said[i]) {
				t.Errorf("%v: after loading it says %v, %v, before %v", family, again, err, said[i])
			}
		}
		if !slices.Equal(said[0], said[1]) || !bytes.Equal(files[0], files[1]) {
			t.Errorf("%v: by one worker %v, by two %v", family, said[0], said[1])
		}
	}
}

// Frames that it was trained on become less relevant, and stay below frames that it never saw.
func TestFrameRNDScoresWhatItWasTrainedOnLower(t *testing.T) {
	m := newFrameRND(t, smallFrameRND(), 36, cpu.Options{Threads: 1})
	known, before, after := filmed(4, 36, 1), make([]float32, 4), make([]float32, 4)
	m.whitener.see(known.Frames)
	if err := m.Score(before, known, 4); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		copy(m.Batch().Frames, known.Frames)
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Score(after, known, 4); err != nil {
		t.Fatal(err)
	}
	strange := make([]float32, 4)
	if err := m.Score(strange, filmed(4, 36, 2), 4); err != nil {
		t.Fatal(err)
	}
	for i := range after {
		if after[i] > before[i]/4 || after[i] > strange[i]/2 {
			t.Errorf("F of a known frame is %g, before training %g, of a strange one %g", after[i], before[i], strange[i])
		}
	}
}

func TestFrameRNDDoesNotAllocate(t *testing.T) {
	m := newFrameRND(t, smallFrameRND(), 36, cpu.Options{Threads: 2})
	film(m.Batch(), 36, 1)
	dst := make([]float32, 4)
	if n := allocs.Least(10, func() {
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

// The cases list which function a setting and frames give, and what is refused.
func TestFunctionsOfFrames(t *testing.T) {
	seen := Frames{Side: 36, Stack: 3}
	of := func(name string, c Config, f Frames) (*Model, error) {
		made, err := New(name, Deps{Config: c, Shape: little, Frames: f, Device: newDevice(t), Seed: 1})
		if err == nil && made.State != nil {
			t.Cleanup(func() { made.State.Close() })
		}
		return made, err
	}
	latents, deep := smallFrameRND(), DefaultCount()
	latents.On, deep.Depth = OnLatents, 5
	curious, noised, all := smallFrameICM(), smallFrameICM(), smallFrameICM()
	noised.NoiseShare, noised.NoiseStd, all.ForwardShare = 0.2, 0.2, 1
	for _, c := range []struct {
		name   string
		config Config
		frames Frames
		want   string
	}{
		{"rnd", smallFrameRND(), seen, "*relevance.FrameRND"}, {"rnd", smallFrameRND(), Frames{}, "*relevance.RND"},
		{"rnd", latents, seen, "*relevance.RND"}, {"rnd", latents, Frames{Side: 9, Stack: 2}, "*relevance.RND"},
		{"count", DefaultCount(), seen, "*relevance.FrameCount"}, {"count", DefaultCount(), Frames{Side: 9, Stack: 2}, "*relevance.FrameCount"},
		{"count", deep, Frames{}, "*relevance.Count"},
		{"curiosity", curious, Frames{Side: 9, Stack: 2}, "*relevance.FrameICM"}, {"curiosity", curious, Frames{}, "*relevance.ICM"},
		{"curiosity", DefaultICM(), seen, "*relevance.ICM"}, {"curiosity", noised, Frames{}, "*relevance.ICM"},
	} {
		f, err := of(c.name, c.config, c.frames)
		if err != nil {
			t.Errorf("%s of %+v: %v", c.name, c.frames, err)
			continue
		}
		if got := fmt.Sprintf("%T", f.Function); got != c.want {
			t.Errorf("%s of %+v is %s, want %s", c.name, c.frames, got, c.want)
			continue
		}
		if want := strings.Contains(c.want, "Frame"); f.Sees != want {
			t.Errorf("%s sees frames: %v", c.want, f.Sees)
		}
		if !f.Sees {
			continue
		}
		if n := f.Slice; f.AtOnce(1_000_000) != n || n < 1 || n > 128 {
			t.Errorf("%s takes %d rows at a time", c.want, n)
		}
		b := replay.NewBatch(little, 2)
		if err := f.Score(make([]float32, 2), b, 2); !errors.Is(err, replay.ErrUnseen) {
			t.Errorf("%s scores rows without frames: %v", c.want, err)
		}
	}
	if _, err := of("rnd", smallFrameRND(), Frames{Side: 35, Stack: 3}); err == nil || !strings.Contains(err.Error(), `want pixels.side 36 or more, or rnd.on "latents"`) {
		t.Errorf("frames that are too small: %v", err)
	}
	if _, err := of("count", deep, seen); err == nil || !strings.Contains(err.Error(), "want 0 to 4") {
		t.Errorf("a context beyond the neighbours: %v", err)
	}
	if _, err := of("curiosity", noised, seen); err == nil || !strings.Contains(err.Error(), `want 0 with curiosity.on "frames"`) {
		t.Errorf("noise in frames: %v", err)
	}
	if _, err := of("curiosity", all, seen); err == nil || !strings.Contains(err.Error(), "want a share between 0 and 1") {
		t.Errorf("an inverse model that does not learn: %v", err)
	}
	if all.On = "walls"; all.Validate() == nil {
		t.Error("curiosity on walls is let pass")
	}
	for _, c := range []ConfigOfFrames{smallFrameRND(), DefaultRND(), latents, DefaultCount(), curious, DefaultICM()} {
		small, large := c.MemoryOfFrames(little, Frames{Side: 36, Stack: 3}), c.MemoryOfFrames(little, Frames{Side: 84, Stack: 3})
		if none := c.MemoryOfFrames(little, Frames{}); none != c.Memory(little) || !(small > 0) || !(large >= small) {
			t.Errorf("%T: memory of %g bytes without frames, %g and %g with", c, none, small, large)
		}
	}
}

// The first frames are whitened by their own statistics, as those after them are by those of all: F of
// bytes as they are, clipped to 5, is a hundred times as large.
func TestFirstFramesAreWhitened(t *testing.T) {
	const side, rows = 36, 4
	score := func(m *FrameRND, b *replay.Batch) (mean float64) {
		f := make([]float32, rows)
		if err := m.Score(f, b, rows); err != nil {
			t.Fatal(err)
		}
		for _, v := range f {
			mean += float64(v) / rows
		}
		return mean
	}
	first, later := filmed(rows, side, 1), filmed(rows, side, 2)
	m := newFrameRND(t, smallFrameRND(), side, cpu.Options{Threads: 1})
	raw := score(m, first)
	for _, b := range []*replay.Batch{first, later} {
		if err := m.Begin(b, rows); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.whitener.count(); n != rows {
		t.Errorf("%v frames were seen, want the first %d", n, rows)
	}
	begun := score(m, first)
	m.whitener.see(later.Frames)
	if after := score(m, first); begun > 2*after || begun < after/2 || raw < 3*begun {
		t.Errorf("F is %v of bytes, %v of the first frames, %v with others", raw, begun, after)
	}
}
