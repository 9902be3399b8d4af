package relevance

import (
	"fmt"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/testing/cputest"
)

// BenchmarkICM times updates and scores on cheetah-run's 17 observations and 6 actions, at the
// widths that presets use.
func BenchmarkICM(b *testing.B) {
	for _, hidden := range []int{64, 128, 256} {
		c := DefaultICM()
		c.Hidden = hidden
		m := newICMFor(b, c, replay.Shape{Obs: 17, Act: 6})
		fillBatch(m.Batch(), 1)
		b.Run(fmt.Sprintf("train/%d", hidden), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Train(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("score a batch of 256/%d", hidden), func(b *testing.B) {
			dst := make([]float32, 256)
			for b.Loop() {
				if err := m.Score(dst, m.Batch(), 256); err != nil {
					b.Fatal(err)
				}
			}
		})
		const rows = 4096
		batch := replay.NewBatch(replay.Shape{Obs: 17, Act: 6}, rows)
		fillBatch(batch, 2)
		dst := make([]float32, rows)
		b.Run(fmt.Sprintf("score 4096/%d", hidden), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Score(dst, batch, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Steady updates and scores allocate nothing.
func TestNoAllocations(t *testing.T) {
	m := newICM(t, smallICM())
	fillBatch(m.Batch(), 1)
	dst := make([]float32, m.config.Batch)
	if n := testing.AllocsPerRun(50, func() {
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
		if err := m.Score(dst, m.Batch(), m.config.Batch); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an update and score", n)
	}
}

// BenchmarkFrames times functions of frames at the sizes of the small scales and of the paper's, on
// one thread: RND at the widths that presets use.
func BenchmarkFrames(b *testing.B) {
	for _, side := range []int{42, 64, 84} {
		c := DefaultRND()
		if side < 84 {
			c.Hidden, c.Features, c.Batch = 64, 64, 128
		}
		m := newFrameRND(b, c, side, cpu.Options{Threads: 1})
		film(m.Batch(), side, 1)
		rows, dst := filmed(128, side, 2), make([]float32, 128)
		b.Run(fmt.Sprintf("rnd update of %d/%d", c.Batch, side), func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Train(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("rnd score of 128/%d", side), func(b *testing.B) {
			for b.Loop() {
				if err := m.Score(dst, rows, 128); err != nil {
					b.Fatal(err)
				}
			}
		})
		benchmarkFrameICM(b, side)
		count := newFrameCount(b, DefaultCount(), side, 1)
		b.Run(fmt.Sprintf("count observes 128/%d", side), func(b *testing.B) {
			for b.Loop() {
				if err := count.Observe(rows, 128); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("count scores 128/%d", side), func(b *testing.B) {
			for b.Loop() {
				if err := count.Score(dst, rows, 128); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchmarkFrameICM(b *testing.B, side int) {
	c, f := DefaultICM(), Frames{Side: side, Stack: 1}
	c.On = OnFrames
	m := newFrameICM(b, c, f, cpu.Options{Threads: 1})
	film(m.Batch(), side, 1)
	act(m.Batch())
	b.Run(fmt.Sprintf("curiosity update of %d/%d", c.Batch, side), func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Train(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{12, 16, 128} {
		rows, dst := acted(n, f, 2), make([]float32, n)
		b.Run(fmt.Sprintf("curiosity score of %d/%d", n, side), func(b *testing.B) {
			for b.Loop() {
				if err := m.Score(dst, rows, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkECO times an env step of 16 copies that remember 200 observations of a maze's rays each,
// and an update, at the widths that presets use, on one thread.
func BenchmarkECO(b *testing.B) {
	shape := replay.Shape{Obs: 160, Act: 9}
	dev := cputest.New(b, cpu.Options{Threads: 1})
	c := DefaultECO()
	c.History = 16 * 1000
	m, err := NewECO(c, shape, Frames{}, 16, newLog(c, 160, Frames{}, 16), dev, 1)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	step := &Met{Obs: make([]float32, 16*160), Next: make([]float32, 16*160), Ended: make([]bool, 16)}
	for i := range step.Obs {
		step.Obs[i], step.Next[i] = float32(i%7), float32(i%11)
	}
	f := make([]float32, 16)
	for range 1000 {
		met(b, m, f, step)
	}
	b.Run("update", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.LearnSlice(0); err != nil {
				b.Fatal(err)
			}
		}
	})
	m.Fill()
	m.config.Beta = 0 // nothing joins the memory
	b.Run("env step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			met(b, m, f, step)
		}
	})
}

// BenchmarkECOOfFrames times an update on the frames that a scale's copies see, and the embedding
// of an env step's frames, on one thread.
func BenchmarkECOOfFrames(b *testing.B) {
	dev := cputest.New(b, cpu.Options{Threads: 1})
	resnet := DefaultECO()
	resnet.Embedding, resnet.Features, resnet.Comparator, resnet.Batch = EmbeddingResNet, 512, []int{512, 512, 512, 512}, 64
	for _, of := range []struct {
		c            ECOConfig
		side, copies int
	}{{DefaultECO(), 42, 16}, {resnet, 84, 12}} {
		of.c.History = of.copies
		m, err := NewECO(of.c, three, Frames{Side: of.side, Stack: 1}, of.copies, newLog(of.c, 3, Frames{Side: of.side, Stack: 1}, of.copies), dev, 1)
		if err != nil {
			b.Fatal(err)
		}
		m.programs.labels[0] = 1
		b.Run(fmt.Sprintf("%s/update of %d", of.c.Embedding, of.c.Batch), func(b *testing.B) {
			for b.Loop() {
				if err := m.programs.step.Run(0); err != nil {
					b.Fatal(err)
				}
			}
		})
		frame := experience.Look{Frame: make([]byte, m.width)}
		b.Run(fmt.Sprintf("%s/embed %d", of.c.Embedding, of.copies), func(b *testing.B) {
			for b.Loop() {
				if err := m.embed(of.copies, func(int) experience.Look { return frame }); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
