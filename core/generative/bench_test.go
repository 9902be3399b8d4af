package generative

import (
	"fmt"
	"testing"

	"pgrlab/core/replay"
)

// benchmarked are the sizes that presets use, for cheetah-run's vectors of 41 dimensions.
var benchmarked = []struct {
	name                     string
	width, blocks, embedding int
}{{"demo", 256, 3, 64}, {"cpu", 512, 4, 128}}

func benchmarkConfig(width, blocks, embedding int) Config {
	c := Default()
	c.Width, c.Blocks, c.Embedding = width, blocks, embedding
	return c
}

var cheetah = replay.Shape{Obs: 17, Act: 6}

func cheetahRows(n int) (table, []float32) {
	_, scores := randomRows(n)
	rows := make(table, n)
	for i := range rows {
		rows[i] = make([]float32, cheetah.Width())
		rows[i][i%cheetah.Width()] = scores[i]
	}
	return rows, scores
}

func BenchmarkFitStep(b *testing.B) {
	for _, s := range benchmarked {
		b.Run(s.name, func(b *testing.B) {
			d := newDiffusion(b, benchmarkConfig(s.width, s.blocks, s.embedding), cheetah)
			rows, scores := cheetahRows(5000)
			startFit(b, d, rows, scores, FitKnobs{Steps: 1e9, LR: 3e-4, PUncond: 0.25}, 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.FitSteps(1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(6*float64(d.Parameters()*d.config.Batch*b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkNetworkCall(b *testing.B) {
	for _, s := range benchmarked {
		for _, omega := range []float64{1, 2} {
			b.Run(fmt.Sprintf("%s/guidance %g", s.name, omega), func(b *testing.B) {
				d := newDiffusion(b, benchmarkConfig(s.width, s.blocks, s.embedding), cheetah)
				rows, scores := cheetahRows(500)
				startFit(b, d, rows, scores, FitKnobs{Steps: 1, LR: 3e-4}, 1)
				finishFit(b, d, 1)
				if err := d.StartGenerate(GenKnobs{Samples: 1 << 30, Steps: 32, Guidance: omega, TopFraction: 0.25}, 1); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, _, _, err := d.GenerateSlice(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
