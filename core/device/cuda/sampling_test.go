package cuda

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/generative"
)

// A chunk of sampling on packed operands agrees with the CPU, guided and not: products write the operands
// of the next ones, rows are added on the way to an operand, and halves to results. The tiles are for
// layers some ten times as wide. TestGenerators has float32.
func TestSamplingOnPackedOperands(t *testing.T) {
	c := small()
	c.Width, c.Chunk, c.Embedding = 128, 128, 32
	fitted, err := generative.New(c, shape, onCPU(t), 11)
	if err != nil {
		t.Fatal(err)
	}
	defer fitted.Close()
	rows, scores := real(60)
	if err := fitted.StartFit(rows, scores, generative.FitKnobs{Steps: 30, LR: 1e-3, PUncond: 0.25}, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fitted.FitSteps(30); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := fitted.Save(&file); err != nil {
		t.Fatal(err)
	}
	for precision, tolerance := range map[kernel.Precision]float64{kernel.TF32: 2e-3, kernel.BF16: 2e-2} {
		dev := hopper(t, Options{Precision: precision})
		dev.UseTile(fmt.Sprintf("packed_%s_128x128", strings.ToUpper(precision.String())))
		for _, omega := range []float64{1, 2} {
			t.Run(fmt.Sprint(precision, " ", omega), func(t *testing.T) {
				agree(t, sampled(t, c, dev, file.Bytes(), omega), sampled(t, c, onCPU(t), file.Bytes(), omega), tolerance)
			})
		}
	}
}

// sampled is a chunk of a saved generator.
func sampled(t *testing.T, c generative.Config, dev device.Device, file []byte, omega float64) (s said) {
	t.Helper()
	d, err := generative.New(c, shape, dev, 11)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Load(bytes.NewReader(file), nil); err != nil {
		t.Fatal(err)
	}
	if err := d.StartGenerate(generative.GenKnobs{Samples: c.Chunk, Steps: 3, Guidance: omega, TopFraction: 0.25, SChurn: 2}, 1); err != nil {
		t.Fatal(err)
	}
	for {
		made, done, total, err := d.GenerateSlice()
		if err != nil {
			t.Fatal(err)
		}
		if done == total {
			s.say("samples", 1, made...)
			return s
		}
	}
}

// Calls that a device makes at once give the bits of calls one by one, also where only some of their levels raise the noise,
// and where a sample goes on from a checkpoint between two of them.
func TestCallsTogether(t *testing.T) {
	c := small()
	c.STmin, c.STmax = 1, 20 // the first and the last levels raise nothing
	dev := card(t, Options{})
	generated := func(on device.Device, interrupted bool) (all []float32, slices int) {
		d, err := generative.New(c, shape, on, 11)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { d.Close() }()
		rows, scores := real(60)
		if err := d.StartFit(rows, scores, generative.FitKnobs{Steps: 4, LR: 1e-3, PUncond: 0.25}, 1); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.FitSteps(4); err != nil {
			t.Fatal(err)
		}
		if err := d.StartGenerate(generative.GenKnobs{Samples: 12, Steps: 8, Guidance: 2, TopFraction: 0.25, SChurn: 40}, 1); err != nil {
			t.Fatal(err)
		}
		for done, total := 0, 1; done < total; slices++ {
			if interrupted && slices == 1 {
				var file bytes.Buffer
				if err := d.Save(&file); err != nil {
					t.Fatal(err)
				}
				d.Close()
				if d, err = generative.New(c, shape, on, 11); err == nil {
					err = d.Load(&file, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			var made []float32
			before := done
			if made, done, total, err = d.GenerateSlice(); err != nil {
				t.Fatal(err)
			}
			if done-before != d.CallsMade() {
				t.Errorf("%d calls, %d said", done-before, d.CallsMade())
			}
			all = append(all, made...)
		}
		return all, slices
	}
	want, ones := generated(struct{ device.Mirror }{dev}, false) // which has no sequences
	for _, interrupted := range []bool{false, true} {
		got, slices := generated(dev, interrupted)
		if ones != 30 || slices != 2*6 {
			t.Errorf("%d slices, one by one %d", slices, ones)
		}
		close32(t, fmt.Sprint("rows, interrupted ", interrupted), got, want, 0)
	}
}
