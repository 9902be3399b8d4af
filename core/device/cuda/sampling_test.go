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
