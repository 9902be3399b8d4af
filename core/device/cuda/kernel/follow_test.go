package kernel

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/device"
)

// factors is a product in a test: an instruction with its operands' sizes.
type factors struct {
	name string
	code device.Code
	in   []sizes
	out  sizes
	mask bool
	i    [2]int
}

// then makes a program of the product and of steps, each of which works on the result of the one
// before and, if it takes two operands, on one more. It keeps the results of the steps in keep.
func (f factors) then(keep []int, steps ...device.Code) *device.Program {
	p := operation{code: f.code, in: f.in, out: f.out, i: f.i, places: map[int]int{3: 2}}.of()
	p.Keep = nil
	in := &p.Instrs[0]
	if f.mask {
		in.Mask = p.add(f.out, 1)
		for j := range p.Buffers[in.Mask].Host {
			p.Buffers[in.Mask].Host[j] -= 0.5
		}
	}
	result := in.Out
	p.Buffers[result].Host = nil
	for k, code := range steps {
		next := device.Instr{Code: code, In: []device.Ref{result}, Mask: device.None}
		switch {
		case code == device.Add && k%2 == 1: // in the other order
			next.In = []device.Ref{p.add(f.out, k+2), result}
		case code != device.Mish && code != device.SiLU && code != device.ReLU && code != device.ELU && code != device.Tanh:
			next.In = append(next.In, p.add(f.out, k+2))
		}
		next.Out = p.add(f.out, 0)
		p.Buffers[next.Out].Host = nil
		p.Instrs = append(p.Instrs, next)
		result = next.Out
		if slices.Contains(keep, k) {
			p.Keep = append(p.Keep, result)
		}
	}
	return p.Program
}

func products() []factors {
	x, w, b := sizes{2, 21, 13}, sizes{2, 13, 10}, sizes{1, 2, 10}
	return []factors{
		{name: "narrow rows", code: device.Linear, in: []sizes{x, w, b}, out: sizes{2, 21, 10}},
		{name: "wide rows", code: device.Linear, in: []sizes{{1, 40, 8}, {1, 8, 36}, {1, 1, 36}}, out: sizes{1, 40, 36}},
		{name: "32x32", code: device.Linear, in: []sizes{{1, 256, 4}, {1, 4, 512}, {1, 1, 512}}, out: sizes{1, 256, 512}},
		{name: "a divided sum", code: device.Linear, in: []sizes{{1, 9, 1100}, {1, 1100, 12}, {1, 1, 12}}, out: sizes{1, 9, 12}},
		{name: "a divided sum of narrow rows", code: device.Linear, in: []sizes{{1, 9, 1100}, {1, 1100, 7}, {1, 1, 7}}, out: sizes{1, 9, 7}},
		{name: "named members", code: device.LinearAt, in: []sizes{x, w, b, {1, 1, 2}}, out: sizes{2, 21, 10}},
		{name: "joined", code: device.LinearJoined, in: []sizes{{1, 21, 5}, {1, 21, 8}, {1, 13, 10}, {1, 1, 10}}, out: sizes{1, 21, 10}},
		{name: "dx", code: device.LinearDX, in: []sizes{{2, 21, 10}, w}, out: sizes{2, 21, 13}, mask: true},
		{name: "dx of all members", code: device.LinearDX, in: []sizes{{2, 21, 10}, w}, out: sizes{1, 21, 13}},
		{name: "part of dx", code: device.LinearDXPart, in: []sizes{{2, 21, 10}, w}, out: sizes{1, 21, 6}, i: [2]int{4, 10}},
	}
}

// Steps that follow a product in its kernel give the same bits as kernels of their own, and a
// result without another reader is not written.
func TestWhatFollowsAProduct(t *testing.T) {
	whatFollows(t, Target{SM: 80})
	whatFollows(t, Target{SM: 90, Precision: TF32, Tile: "packed_TF32_128x128"})
}

func whatFollows(t *testing.T, target Target) {
	alone, together := newCard(t, target), newCard(t, target)
	together.chains = true
	followings := [][]device.Code{
		{device.Add, device.Mish}, {device.SiLUGrad, device.Add}, {device.ReLU, device.Sub, device.ELU}, {device.Tanh, device.Mul, device.SiLU},
		{device.MishGrad, device.Add}, {device.ELUGrad}, {device.TanhGrad}, {device.ReLUGrad},
	}
	seen := map[device.Code]bool{}
	for k, f := range products() {
		for j, steps := range followings {
			if k > 1 && j > 1 && !soak || k > 0 && j > 0 && target.SM == 90 {
				continue
			}
			keep := []int{len(steps) - 1}
			if j == 0 { // the residual network's own
				keep = []int{0, 1}
			}
			p := f.then(keep, steps...)
			segments, err := Segments(p, target)
			if err != nil {
				t.Fatal(err)
			}
			if len(segments) != 1 {
				t.Fatalf("%s, then %v: %d segments", f.name, steps, len(segments))
			}
			for _, name := range kernelsOf(segments[0].Recipe) {
				if !strings.Contains(name, "product") && !strings.HasPrefix(name, "pack") {
					t.Errorf("%s, then %v: kernel %s", f.name, steps, name)
				}
			}
			want, got := execute(t, alone, p), execute(t, together, p)
			for _, r := range p.Keep {
				equal(t, f.name, got.Data(r), want.Data(r))
			}
			for _, code := range steps {
				seen[code] = true
			}
		}
	}
	for code := range followers {
		if !seen[code] && code != device.AddColumns { // TestWhatPrecedesAProduct has it
			t.Errorf("%v followed nothing", code)
		}
	}
}

// A result that only the next product reads is written as its packed operand, and gives the same
// bits; not so if something else reads it, or if its rows or columns do not fill tiles and chunks.
func TestPackedResults(t *testing.T) {
	for _, c := range []struct {
		name         string
		target       Target
		rows, hidden int
		kept         bool
		packs, laid  int // operands that a run packs by kernels of their own; weights that stay packed
	}{
		{"tf32", Target{SM: 90, Precision: TF32, Tile: "packed_TF32_128x128"}, 256, 96, false, 1, 2},
		{"bf16", Target{SM: 90, Precision: BF16, Tile: "packed_BF16_128x256"}, 128, 128, false, 1, 2},
		{"made directly", Target{SM: 90, Precision: TF32, Tile: "direct_TF32_128x128"}, 128, 96, false, 0, 0},
		{"each by itself", Target{SM: 90, Precision: BF16, Tile: "packed_BF16_128x128", Chain: 100}, 128, 128, false, 2, 2},
		{"kept", Target{SM: 90, Precision: BF16, Tile: "packed_BF16_128x128"}, 128, 128, true, 2, 2},
		{"rows left over", Target{SM: 90, Precision: TF32, Tile: "packed_TF32_128x128"}, 130, 96, false, 2, 2},
		{"columns left over", Target{SM: 90, Precision: BF16, Tile: "packed_BF16_128x128"}, 128, 96, false, 2, 2},
		{"another tile", Target{SM: 90, Precision: TF32, Tile: "TF32_64x64"}, 128, 96, false, 0, 0},
	} {
		p := factors{code: device.Linear, in: []sizes{{1, c.rows, 20}, {1, 20, c.hidden}, {1, 1, c.hidden}}, out: sizes{1, c.rows, c.hidden}}.then(nil, device.Mish)
		hidden := p.Instrs[1].Out
		next := device.Instr{Code: device.Linear, Mask: device.None, In: []device.Ref{hidden, building{p}.add(sizes{1, c.hidden, 24}, 7), building{p}.add(sizes{1, 1, 24}, 8)}}
		next.Out = building{p}.add(sizes{1, c.rows, 24}, 9)
		p.Instrs, p.Keep = append(p.Instrs, next), []device.Ref{next.Out}
		p.Buffers[hidden].Host = nil // the device's own, between the two
		if c.kept {
			p.Keep = append(p.Keep, hidden)
		}
		segments, err := Segments(p, c.target)
		if err != nil {
			t.Fatal(err)
		}
		packs, laid := 0, 0
		for _, s := range segments {
			laid += len(s.Recipe.Kept)
			for _, name := range kernelsOf(s.Recipe) {
				if strings.HasPrefix(name, "pack_") {
					packs++
				}
			}
		}
		if packs != c.packs || laid != c.laid {
			t.Errorf("%s: %d operands are packed by kernels of their own and %d weights stay packed, want %d and %d", c.name, packs, laid, c.packs, c.laid)
		}
		alone, together := newCard(t, c.target), newCard(t, c.target)
		together.chains = true
		equal(t, c.name, execute(t, together, p).Data(next.Out), execute(t, alone, clone(p)).Data(next.Out))
	}
}

// If a product's result is written piece by piece, or something else reads a result in between,
// each instruction has a launch of its own.
func TestWhatCannotFollow(t *testing.T) {
	wide := factors{code: device.Linear, in: []sizes{{1, 40, 8}, {1, 8, 36}, {1, 1, 36}}, out: sizes{1, 40, 36}}
	for name, c := range map[string]struct {
		p      *device.Program
		target Target
	}{
		"tensor cores": {factors{code: device.Linear, in: []sizes{{1, 4096, 512}, {1, 512, 2048}, {1, 1, 2048}}, out: sizes{1, 4096, 2048}}.then(nil, device.Mish),
			Target{SM: 80, Precision: BF16}},
		"another result": {func() *device.Program {
			p := wide.then(nil, device.Mish)
			p.Instrs[1].In[0] = building{p}.add(wide.out, 1)
			return p
		}(), Target{SM: 80}},
	} {
		segments, err := Segments(c.p, c.target)
		if err != nil {
			t.Fatal(err)
		}
		if len(segments) != 2 {
			t.Errorf("%s: %d segments", name, len(segments))
		}
	}
}
