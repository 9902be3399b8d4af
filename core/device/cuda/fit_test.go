package cuda

import (
	"errors"
	"math"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
	"pgrlab/core/generative"
	"pgrlab/core/plan"
	"pgrlab/core/testing/emulator"
)

// fitted makes a fit of 11 steps in pieces, and says its mean loss and samples. between is called after each piece.
func fitted(t *testing.T, c generative.Config, head string, scored bool, dev device.Device, between func(), pieces ...int) (s said) {
	t.Helper()
	deps := generative.Deps{Config: c, Shape: shape, Device: dev, Seed: 11}
	var d generative.Generator
	d, err := generative.New(c, shape, dev, deps.Seed)
	if err == nil && head != generative.HeadNone {
		d, err = generative.WithHeads(d, generative.HeadConfig{Kind: head, Width: 16, Batch: 8}, deps)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, scores := real(60)
	if !scored {
		scores = nil
	}
	const steps = 11
	if err := d.StartFit(rows, scores, generative.FitKnobs{Steps: steps, LR: 1e-3, PUncond: 0.25}, 1); err != nil {
		t.Fatal(err)
	}
	at, sum := 0, 0.0
	for _, n := range pieces {
		loss, done, err := d.FitSteps(n)
		if at += n; err != nil || done != (at == steps) {
			t.Fatal(done, err)
		}
		sum += float64(n) * loss
		between()
	}
	s.say("losses", 3, float32(sum))
	if err := d.StartGenerate(generative.GenKnobs{Samples: 8, Steps: 3, Guidance: 2, TopFraction: 0.25, SChurn: 2}, 1); err != nil {
		t.Fatal(err)
	}
	for done, total := 0, 1; done < total; {
		var made []float32
		if made, done, total, err = d.GenerateSlice(); err != nil {
			t.Fatal(err)
		}
		if len(made) > 0 {
			s.say("samples", 50, made...)
		}
	}
	return s
}

// Gradient steps that the device makes together, with batches that it samples itself, are those of single steps to the last bit, and
// agree with the CPU's: in pieces of any size, with and without conditions, and if the device is parked between them.
func TestFitsTogether(t *testing.T) {
	alone := func() {}
	var single []int
	for range 11 {
		single = append(single, 1)
	}
	small := small()
	small.EMAEvery = 9 // as many steps at once
	plain := small
	plain.Conditional = false
	on := card(t, Options{})
	park := func() {
		if err := on.Park(); err != nil {
			t.Fatal(err)
		}
	}
	none, transition := generative.HeadNone, generative.HeadTransition
	together := fitted(t, small, transition, true, on, alone, 11)
	agree(t, together, fitted(t, small, transition, true, onCPU(t), alone, single...), 1e-5)
	agree(t, together, fitted(t, small, transition, true, on, alone, single...), 0)
	agree(t, together, fitted(t, small, transition, true, on, park, 9, 2), 0)
	agree(t, fitted(t, small, none, false, on, alone, 11), fitted(t, small, none, false, onCPU(t), alone, single...), 1e-5)
	agree(t, fitted(t, plain, none, false, on, alone, 11), fitted(t, plain, none, false, onCPU(t), alone, single...), 1e-5)
	if n := len(on.sequences) + len(on.stores); n != 0 {
		t.Errorf("%d sequences and stores are left", n)
	}
}

// The same in the tiles of the tensor cores.
func TestFitsTogetherInEachPrecision(t *testing.T) {
	if !soak && !onGPU {
		t.Skip("interpreting the tensor cores takes a minute: PGRLAB_SOAK=1, or PGRLAB_GPU=0 where there is a GPU")
	}
	c := small()
	c.EMAEvery = 9
	var single []int
	for range 11 {
		single = append(single, 1)
	}
	none := func() {}
	want := fitted(t, c, generative.HeadNone, true, onCPU(t), none, single...)
	for tile, o := range map[string]Options{
		"packed_TF32_128x128": {Precision: kernel.TF32}, "direct_TF32_128x128": {Precision: kernel.TF32}, "packed_BF16_128x128": {Precision: kernel.BF16},
	} {
		o.Tile = tile
		dev := hopper(t, o)
		together := fitted(t, c, generative.HeadNone, true, dev, none, 11)
		agree(t, together, fitted(t, c, generative.HeadNone, true, dev, none, single...), 0)
		agree(t, together, want, map[kernel.Precision]float64{kernel.TF32: 1e-3, kernel.BF16: 8e-3}[o.Precision])
	}
}

// A fit whose data has no room on the device is made with the host's batches, also after one that had room.
func TestAFitWithoutRoomForItsData(t *testing.T) {
	dev := card(t, Options{})
	c := small()
	d, err := generative.New(c, shape, dev, 11)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, scores := real(60)
	var losses [2]float64
	for i := range losses {
		if i == 1 {
			dev.options.Memory = dev.Taken() // not a byte more
		}
		if err := d.StartFit(rows, scores, generative.FitKnobs{Steps: 20, LR: 1e-3, PUncond: 0.25}, 1); err != nil {
			t.Fatal(err)
		}
		if losses[i], _, err = d.FitSteps(16); err != nil {
			t.Fatal(err)
		}
		if n := len(dev.stores); n != 1-i {
			t.Errorf("%d stores in fit %d", n, i)
		}
		d.Cancel()
	}
	if losses[0] != losses[1] {
		t.Errorf("losses %v", losses)
	}
}

// A row that is not finite stops the fit within a sequence, and the error names the gradient step.
func TestAFitThatStopsTogether(t *testing.T) {
	c := small()
	d, err := generative.New(c, shape, card(t, Options{}), 11)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, scores := real(60)
	if err := d.StartFit(rows, scores, generative.FitKnobs{Steps: 32, LR: 1e-3, PUncond: 0}, 1); err != nil {
		t.Fatal(err)
	}
	rows[7][0] = float32(math.Inf(1))
	_, _, err = d.FitSteps(32)
	var where *plan.NotFinite
	if !errors.As(err, &where) {
		t.Fatalf("%v", err)
	}
	want := fitStops(t, c, rows, scores)
	if err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// fitStops returns the error of the same fit in single steps on the CPU.
func fitStops(t *testing.T, c generative.Config, rows table, scores []float32) string {
	t.Helper()
	bad := rows[7][0]
	rows[7][0] = 0
	d, err := generative.New(c, shape, onCPU(t), 11)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.StartFit(rows, scores, generative.FitKnobs{Steps: 32, LR: 1e-3, PUncond: 0}, 1); err != nil {
		t.Fatal(err)
	}
	rows[7][0] = bad
	for range 32 {
		if _, _, err := d.FitSteps(1); err != nil {
			return err.Error()
		}
	}
	t.Fatal("the row was in no batch")
	return ""
}

// A device that is lost while a fit begins or in its first sequence says so, and what is left closes.
func TestAFitOnALostDevice(t *testing.T) {
	rows, scores := real(60)
	lost := 0
	for at := 3; at < 9; at++ {
		dev := emulated(t, emulator.Options{Unchecked: true, LoseAt: at}, Options{})
		d, err := generative.New(small(), shape, dev, 11)
		if err == nil {
			err = d.StartFit(rows, scores, generative.FitKnobs{Steps: 34, LR: 1e-3, PUncond: 0.25}, 1)
		}
		if err == nil {
			_, _, err = d.FitSteps(16)
		}
		var gone *driver.LostDevice
		if err != nil && !errors.As(err, &gone) {
			t.Errorf("lost at wait %d: %v", at, err)
		}
		if gone != nil {
			lost++
		}
		if d != nil {
			d.Cancel()
			d.Close()
		}
	}
	if lost < 5 {
		t.Errorf("the device was lost in %d of the fits", lost)
	}
}
