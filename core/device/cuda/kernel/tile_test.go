package kernel

import (
	"fmt"
	"testing"
)

// This is how products of the networks in use are divided. The table is for readers, and shows what
// a change of the rule changes.
func TestDivisions(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       product
		target  Target
		kernel  string
		blocks  int // blocks in the grid
		divided int // parts of the sum
	}{
		{"critic, first layer", plain(nn, 256, 256, 90, 1), Target{SM: 90, Precision: FP32}, "productNN_16x32", 128, 1},
		{"critic, hidden layer", plain(nn, 256, 256, 256, 1), Target{SM: 90, Precision: FP32}, "productNN_16x32", 128, 1},
		{"twin critics", plain(nn, 256, 256, 256, 2), Target{SM: 90, Precision: FP32}, "productNN_32x32", 128, 1},
		{"ten critics", plain(nn, 256, 256, 256, 10), Target{SM: 90, Precision: FP32}, "productNN_64x64", 160, 1},
		{"ten critics stay exact", plain(nn, 256, 256, 256, 10), Target{SM: 90, Precision: BF16}, "productNN_64x64", 160, 1},
		{"ten critics' weights", plain(tn, 90, 256, 256, 10), Target{SM: 90, Precision: FP32}, "productTN_32x32", 240, 1},
		{"policy head", plain(nn, 256, 12, 256, 1), Target{SM: 90, Precision: FP32}, "productNN_16x32", 16, 1},
		{"gradient of the action, ten critics", actionGradient(10), Target{SM: 90, Precision: FP32}, "productNT_16x32", 80, 5},
		{"denoiser 1024, a step", plain(nn, 256, 1024, 1024, 1), Target{SM: 90, Precision: TF32}, "productNN_direct_TF32_128x128", 128, 8},
		{"denoiser 2048, a step", plain(nn, 256, 2048, 2048, 1), Target{SM: 90, Precision: TF32}, "productNN_direct_TF32_128x128", 128, 4},
		{"denoiser 2048, its gradient", plain(nt, 256, 2048, 2048, 1), Target{SM: 90, Precision: TF32}, "productNT_direct_TF32_128x128", 128, 4},
		{"denoiser 2048, its weights", plain(tn, 2048, 2048, 256, 1), Target{SM: 90, Precision: TF32}, "packed_TF32_128x256", 128, 1},
		{"denoiser 2048, samples in a chunk", packedA(4096, 2048, 2048), Target{SM: 90, Precision: TF32}, "packed_TF32_128x256", 256, 1},
		{"denoiser 2048, samples in a chunk", packedA(4096, 2048, 2048), Target{SM: 90, Precision: BF16}, "packed_BF16_128x256", 256, 1},
		{"denoiser 2048, samples", plain(nn, 100_000, 2048, 2048, 1), Target{SM: 90, Precision: BF16}, "packed_BF16_128x256", 6256, 1},
		{"the same in float32", plain(nn, 100_000, 2048, 2048, 1), Target{SM: 90, Precision: FP32}, "productNN_128x128", 12512, 1},
		{"the same on a B200", plain(nn, 100_000, 2048, 2048, 1), Target{SM: 100, Precision: BF16}, "productNN_BF16_128x256", 6256, 1},
		{"the same on a smaller card", plain(nn, 100_000, 2048, 2048, 1), Target{SM: 89, Precision: BF16}, "productNN_BF16_128x128", 12512, 1},
		{"the same on an older card", plain(nn, 100_000, 2048, 2048, 1), Target{SM: 75, Precision: BF16}, "productNN_128x128", 12512, 1},
		{"its last layer, 169 columns", plain(nn, 100_000, 169, 2048, 1), Target{SM: 90, Precision: BF16}, "packed_BF16_128x256", 782, 1},
		{"denoiser 2048, a step, on an A100", plain(nn, 256, 2048, 2048, 1), Target{SM: 80, Precision: TF32, Processors: 108}, "productNN_TF32_128x128", 96, 3},
		{"denoiser 2048, a step, on an H100 PCIe", plain(nn, 256, 2048, 2048, 1), Target{SM: 90, Precision: TF32, Processors: 114}, "packed_TF32_128x256", 112, 7},
		{"ten critics on an A100", plain(nn, 256, 256, 256, 10), Target{SM: 80, Processors: 108}, "productNN_64x64", 160, 1},
		{"critic on a T4", plain(nn, 256, 256, 256, 1), Target{SM: 75, Processors: 40}, "productNN_32x32", 64, 1},
		{"small denoiser, samples", plain(nn, 4096, 256, 256, 1), Target{SM: 90, Precision: TF32}, "productNN_direct_TF32_128x128", 128, 2},
	} {
		d := divide(c.p, c.target)
		got := fmt.Sprintf("%s, %d blocks, %d parts", d.kernel, c.p.blocks(d.tile)*d.splits, d.splits)
		if want := fmt.Sprintf("%s, %d blocks, %d parts", c.kernel, c.blocks, c.divided); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// Every card can run the blocks of its class at once, and the parts of a float32 sum that is
// divided to fill a card fit on it in one round.
func TestPartsFitInOneRound(t *testing.T) {
	for _, processors := range []int{142, 132, 128, 114, 108, 84, 80, 72, 58, 40, 28, 16, 4} {
		most := class(processors)
		if most > max(processors, 14) {
			t.Errorf("%d multiprocessors are of class %d", processors, most)
		}
		for _, p := range []product{plain(nn, 256, 2048, 2048, 1), plain(nt, 256, 2048, 2048, 1), plain(tn, 2048, 2048, 256, 1), plain(nn, 256, 1024, 1024, 1), actionGradient(10), plain(nn, 16, 32, 4096, 1)} {
			d := divide(p, Target{SM: 90, Processors: processors})
			if blocks := p.blocks(d.tile) * d.splits; d.splits > 1 && blocks > most {
				t.Errorf("%d multiprocessors: %s of %d×%d×%d has %d blocks", processors, d.kernel, p.m, p.n, p.k, blocks)
			}
		}
	}
}

// packedA is a layer's product whose operand the layer before has packed.
func packedA(m, n, k int) product {
	p := plain(nn, m, n, k, 1)
	p.ready = true
	return p
}

// actionGradient is dz·wᵀ for the columns of an action, added over the critics.
func actionGradient(critics int) product {
	p := plain(nt, 256, 12, 256, 1)
	p.inner = critics
	return p
}

// A launch stays below its bound, and launches are equal parts.
func TestLaunchesAreBounded(t *testing.T) {
	for _, c := range []struct {
		target Target
		rows   int // rows of a launch
	}{{Target{SM: 80, Precision: BF16}, 25_088}, {Target{SM: 70, Precision: FP32}, 14_336}} {
		p := plain(nn, 100_000, 2048, 2048, 1)
		d := divide(p, c.target)
		b := &builder{target: c.target}
		b.products(p, d)
		if d.rows != c.rows || len(b.recipe.Launches) != ceil(p.m, c.rows) {
			t.Errorf("%v: %d launches of %d rows, want rows %d", c.target, len(b.recipe.Launches), d.rows, c.rows)
		}
	}
}

// A sum that is divided is not divided by rows too: its parts are made of all rows at once, and the
// memory for packed operands is as large as one launch needs.
func TestADividedSumHasAllRows(t *testing.T) {
	p := plain(nn, 256, 256, 1<<22, 1)
	for _, target := range []Target{{SM: 80, Precision: TF32}, {SM: 90, Precision: TF32}, {SM: 90, Precision: BF16}} {
		if d := divide(p, target); d.splits < 2 || d.rows != p.m {
			t.Errorf("%+v: %d parts of %d rows, the product has %d", target, d.splits, d.rows, p.m)
		}
	}
}
