package maze

import (
	"testing"
)

// benchmarkSteps makes steps of random actions; watch looks at the result of each.
func benchmarkSteps(b *testing.B, watch func(e *Env)) {
	task, _ := Find("maze-sparse")
	task, err := task.With(Options{TV: "noise"})
	if err != nil {
		b.Fatal(err)
	}
	e, obs, row, p := task.New(Training, 1), make([]float32, ObsSize), make([]float32, ActSize), randomPlayer(1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%EpisodeSteps == 0 {
			if err := e.Reset(uint64(i/EpisodeSteps), obs); err != nil {
				b.Fatal(err)
			}
		}
		action := p(e.episode)
		row[action] = 1
		if _, _, _, err := e.Step(row, obs); err != nil {
			b.Fatal(err)
		}
		row[action] = 0
		watch(e)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

func BenchmarkRays(b *testing.B) { benchmarkSteps(b, func(*Env) {}) }

func BenchmarkRGB42(b *testing.B) { benchmarkFrames(b, 42) }
func BenchmarkRGB84(b *testing.B) { benchmarkFrames(b, 84) }

func benchmarkFrames(b *testing.B, side int) {
	frame := make([]byte, 3*side*side)
	benchmarkSteps(b, func(e *Env) {
		if err := e.Frame(frame, side); err != nil {
			b.Fatal(err)
		}
	})
}
