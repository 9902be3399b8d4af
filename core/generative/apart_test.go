package generative

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/testing/mirrortest"
)

// generator is what a Diffusion and a VAE have in common.
type generator interface {
	fitted
	Save(w io.Writer) error
	Load(r io.Reader, real Rows) error
	Cancel()
	Close() error
}

// tale returns every result of a generator that is saved in the middle of a fit and of a
// generation, goes on, and goes on once more from the saved state.
func tale(t *testing.T, d generator) (said [][]float32) {
	t.Helper()
	rows, scores := randomRows(40)
	save := func() []byte {
		var file bytes.Buffer
		if err := d.Save(&file); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	load := func(file []byte, rows Rows) {
		if err := d.Load(bytes.NewReader(file), rows); err != nil {
			t.Fatal(err)
		}
	}
	startFit(t, d, rows, scores, tinyFit, 1)
	finishFit(t, d, 20)
	said = append(said, generateAll(t, d, tinyGenerate, 1))
	startFit(t, d, rows, scores, tinyFit, 2)
	if _, _, err := d.FitSteps(9); err != nil {
		t.Fatal(err)
	}
	fitting := save()
	finishFit(t, d, 3)
	load(fitting, rows)
	d.Cancel()
	said = append(said, generateAll(t, d, tinyGenerate, 3)) // by the previous fit
	load(fitting, rows)
	finishFit(t, d, 20)
	if err := d.StartGenerate(tinyGenerate, 2); err != nil {
		t.Fatal(err)
	}
	made, _, _, err := d.GenerateSlice()
	if err != nil {
		t.Fatal(err)
	}
	said = append(said, slices.Clone(made))
	generating := save()
	said = append(said, finishGeneration(t, d))
	load(generating, rows)
	return append(said, finishGeneration(t, d))
}

func TestAGeneratorApart(t *testing.T) {
	turned := tiny()
	turned.Preconditioning, turned.Init = PreconditioningCovariance, InitPrevious
	for name, make := range map[string]func(dev device.Device) (generator, error){
		"diffusion": func(dev device.Device) (generator, error) { return New(tiny(), tinyShape, dev, 11) },
		"turned":    func(dev device.Device) (generator, error) { return New(turned, tinyShape, dev, 11) },
		"vae":       func(dev device.Device) (generator, error) { return NewVAE(tiny(), tinyVAE(), tinyShape, dev, 11) },
		"ensemble":  func(dev device.Device) (generator, error) { return ensembleOn(t, dev, asIs), nil },
	} {
		inner := newDevice(t)
		var said [2][][]float32
		for i, dev := range []device.Device{inner, mirrortest.New(inner)} {
			d, err := make(dev)
			if err != nil {
				t.Fatal(err)
			}
			said[i] = tale(t, d)
			d.Close()
		}
		for i := range said[0] {
			if !slices.Equal(said[0][i], said[1][i]) {
				t.Errorf("%s, part %d: apart it makes\n%v\non the CPU\n%v", name, i, said[1][i], said[0][i])
			}
		}
	}
}
