package generative

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/dynamics"
	"pgrlab/core/rng"
)

func withNoise(c Config) Config {
	c.NoiseShare, c.NoiseStd = 0.25, 0.5
	return c
}

// The first rows of a batch have noise on s and s', of the size that the configuration asks for, and
// nothing else; what is not learned is as it is.
func TestNoiseOfRows(t *testing.T) {
	rows, _ := randomRows(60)
	for _, row := range rows {
		row[0] *= 3
	}
	n := newNoisy(withNoise(tiny()), tinyShape, rows, rng.New(1, "noise"))
	square, mean := 0.0, [2]float64{}
	for _, row := range rows {
		mean[0], mean[1] = mean[0]+float64(row[0])/60, mean[1]+float64(row[1])/60
	}
	for _, row := range rows {
		square += (math.Pow(float64(row[0])-mean[0], 2) + math.Pow(float64(row[1])-mean[1], 2)) / 120
	}
	if want := 0.5 * math.Sqrt(square); !(math.Abs(n.deviation-want) <= 1e-6) {
		t.Errorf("deviation %v, want %v", n.deviation, want)
	}
	sum, count := 0.0, 0
	for at := range uint64(500) {
		for place := range 16 {
			n.learn(at, place, 16)
			got := slices.Clone(n.Row(place))
			for j, v := range got {
				changed, observed := v != rows[place][j], slices.Contains([]int{0, 1, 4, 5}, j)
				if changed != (place < 4 && observed) {
					t.Fatalf("place %d, column %d: %v of %v", place, j, v, rows[place][j])
				}
				if changed {
					sum, count = sum+math.Pow(float64(v-rows[place][j]), 2), count+1
				}
			}
			if !slices.Equal(n.Row(place), rows[place]) {
				t.Fatal("a row that is not learned has noise")
			}
		}
	}
	if got := math.Sqrt(sum / float64(count)); !(math.Abs(got/n.deviation-1) <= 0.03) {
		t.Errorf("the noise has deviation %v, want %v", got, n.deviation)
	}
	if newNoisy(tiny(), tinyShape, rows, rng.New(1, "noise")) != nil {
		t.Error("noise that was not asked for")
	}
}

// A model of the dynamics learns the outcomes of the disturbed rows, whichever it predicts; each member
// has noise of its own, and the rows that are held out have none.
func TestModelsLearnDisturbedRows(t *testing.T) {
	rows, _ := randomRows(30)
	places := []int32{3, 9, 4, 20, 11, 2, 7, 8}
	for _, target := range []string{TargetDelta, TargetNext} {
		e := newTinyEnsemble(t, func(d *Deps, own *EnsembleConfig) { d.Config, own.Target = withNoise(d.Config), target })
		l, by := e.learned(rows), newNoisy(e.config, tinyShape, rows, e.stream)
		in, out, clean, of := make([]float32, 8*3), make([]float32, 8*3), make([]float32, 8*3), make([]float32, 8*3)
		l.Learn(dynamics.Place{Refit: 2, Step: 5}, places, in, out)
		l.Pairs(places, clean, of)
		for k, i := range places {
			row := rows[i]
			if k < 2 { // a quarter of 8
				by.learn(occasion(2, 5), k, 8)
				row = by.Row(int(i))
			}
			want := []float32{row[3], row[4], row[5]}
			if target == TargetDelta {
				want = []float32{row[3], row[4] - row[0], row[5] - row[1]}
			}
			if !slices.Equal(in[3*k:3*k+3], row[:3]) || math.Abs(float64(out[3*k+1]-want[1]))+math.Abs(float64(out[3*k+2]-want[2])) > 1e-5 || out[3*k] != want[0] {
				t.Errorf("%s, row %d: %v and %v, want %v and %v", target, k, in[3*k:3*k+3], out[3*k:3*k+3], row[:3], want)
			}
		}
		other := slices.Clone(in)
		l.Learn(dynamics.Place{Refit: 2, Step: 5, Member: 1}, places, other, out)
		if slices.Equal(other, in) || !slices.Equal(other[6:], clean[6:]) {
			t.Errorf("%s: members learn %v and %v", target, in, other)
		}
	}
}

// Fits of all kinds that learn are others with noise than without; one that is saved in its middle goes on
// bit for bit.
func TestFitsWithNoise(t *testing.T) {
	rows, _ := randomRows(40)
	for _, kind := range []string{"diffusion", "heads", "vae", "ensemble"} {
		generator := func(c Config) Generator {
			d := Deps{Config: c, Shape: tinyShape, Device: newDevice(t), Seed: 11, Policy: leaning{}, Settings: tinyEnsemble()}
			if kind == "vae" {
				d.Settings = VAEConfig{Latent: 2, Width: 8, Bottleneck: 4, EncoderBlocks: 1, DecoderBlocks: 1, Beta: 0.1}
			}
			spec, err := Find(strings.ReplaceAll(kind, "heads", "diffusion"))
			if err != nil {
				t.Fatal(err)
			}
			g, err := spec.New(d)
			if err == nil && kind == "heads" {
				g, err = WithHeads(g, HeadConfig{Kind: HeadTransition, Width: 8, Layers: 1, Batch: 8}, d)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { g.Close() })
			return g
		}
		made := func(c Config, cut int) []float32 {
			g := generator(c)
			startFit(t, g, rows, nil, tinyFit, 3)
			if cut > 0 {
				if _, _, err := g.FitSteps(cut); err != nil {
					t.Fatal(err)
				}
				var file bytes.Buffer
				if err := g.Save(&file); err != nil {
					t.Fatal(err)
				}
				g = generator(c)
				if err := g.Load(&file, rows); err != nil {
					t.Fatal(err)
				}
			}
			finishFit(t, g, 100)
			return generateAll(t, g, rollingKnobs, 1)
		}
		whole := made(withNoise(tiny()), 0)
		if !slices.Equal(whole, made(withNoise(tiny()), 3)) {
			t.Errorf("%s: a fit with noise does not go on as it would have", kind)
		}
		if slices.Equal(whole, made(tiny(), 0)) {
			t.Errorf("%s: noise changes nothing", kind)
		}
	}
	c := tiny()
	c.NoiseShare = 1.5
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "noise_share is 1.5") {
		t.Errorf("%v", err)
	}
}
