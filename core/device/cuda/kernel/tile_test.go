package kernel

import (
	"fmt"
	"testing"
)

// What products of the networks in use become: the rule on paper, for a reader, and
// so that nobody changes it without seeing what changes.
func TestDivisions(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       product
		target  Target
		kernel  string
		blocks  int // of the grid
		divided int // parts of the sum
	}{
		{"critic, first layer", plain(nn, 256, 256, 90, 1), Target{90, FP32}, "productNN_16x32", 128, 1},
		{"critic, hidden layer", plain(nn, 256, 256, 256, 1), Target{90, FP32}, "productNN_16x32", 128, 1},
		{"twin critics", plain(nn, 256, 256, 256, 2), Target{90, FP32}, "productNN_32x32", 128, 1},
		{"ten critics", plain(nn, 256, 256, 256, 10), Target{90, FP32}, "productNN_64x64", 160, 1},
		{"ten critics stay exact", plain(nn, 256, 256, 256, 10), Target{90, BF16}, "productNN_64x64", 160, 1},
		{"ten critics' weights", plain(tn, 90, 256, 256, 10), Target{90, FP32}, "productTN_32x32", 240, 1},
		{"policy head", plain(nn, 256, 12, 256, 1), Target{90, FP32}, "productNN_16x32", 16, 1},
		{"gradient of the action, ten critics", actionGradient(10), Target{90, FP32}, "productNT_16x32", 80, 5},
		{"denoiser 1024, a step", plain(nn, 256, 1024, 1024, 1), Target{90, TF32}, "productNN_TF32_64x64", 128, 2},
		{"denoiser 2048, a step", plain(nn, 256, 2048, 2048, 1), Target{90, TF32}, "productNN_TF32_128x128", 128, 4},
		{"denoiser 2048, its gradient", plain(nt, 256, 2048, 2048, 1), Target{90, TF32}, "productNT_TF32_128x128", 128, 4},
		{"denoiser 2048, its weights", plain(tn, 2048, 2048, 256, 1), Target{90, TF32}, "productTN_TF32_128x256", 128, 1},
		{"denoiser 2048, samples", plain(nn, 100_000, 2048, 2048, 1), Target{90, BF16}, "productNN_BF16_128x256", 6256, 1},
		{"the same in float32", plain(nn, 100_000, 2048, 2048, 1), Target{90, FP32}, "productNN_128x128", 12512, 1},
		{"the same on a smaller card", plain(nn, 100_000, 2048, 2048, 1), Target{89, BF16}, "productNN_BF16_128x128", 12512, 1},
		{"the same on an older card", plain(nn, 100_000, 2048, 2048, 1), Target{75, BF16}, "productNN_128x128", 12512, 1},
		{"its last layer, 169 columns", plain(nn, 100_000, 169, 2048, 1), Target{90, BF16}, "productNN_BF16_128x256", 782, 1},
		{"small denoiser, samples", plain(nn, 4096, 256, 256, 1), Target{90, TF32}, "productNN_TF32_64x64", 256, 1},
	} {
		d := divide(c.p, c.target)
		got := fmt.Sprintf("%s, %d blocks, %d parts", d.kernel, c.p.blocks(d.tile)*d.splits, d.splits)
		if want := fmt.Sprintf("%s, %d blocks, %d parts", c.kernel, c.blocks, c.divided); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// actionGradient is dz·wᵀ of the columns of an action, added over critics.
func actionGradient(critics int) product {
	p := plain(nt, 256, 12, 256, 1)
	p.inner = critics
	return p
}

// A launch stays below its bound, and launches are equal parts.
func TestLaunchesAreBounded(t *testing.T) {
	for _, c := range []struct {
		target Target
		rows   int // of a launch
	}{{Target{90, BF16}, 25_088}, {Target{70, FP32}, 14_336}} {
		p := plain(nn, 100_000, 2048, 2048, 1)
		d := divide(p, c.target)
		b := &builder{target: c.target}
		b.products(p, d)
		if d.rows != c.rows || len(b.recipe.Launches) != ceil(p.m, c.rows) {
			t.Errorf("%v: %d launches of %d rows, want rows %d", c.target, len(b.recipe.Launches), d.rows, c.rows)
		}
	}
}
