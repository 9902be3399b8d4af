package kernel

import (
	"fmt"
	"slices"
	"testing"

	"pgrlab/core/device"
)

// made is a layer whose operand is made on its way to it, and to whose result some columns are added.
type made struct {
	by       device.Code // ColScale or ColAdd
	function device.Code // Nop: none
	sizes    [3]int      // rows, and columns of the operand and of the result
	from     int         // the first of the columns added to, of half as many as the result has; −1: none
}

// of makes a program. shared says that something else reads the operand, too.
func (m made) of(shared bool) *device.Program {
	p := building{&device.Program{Name: "made"}}
	rows, in, out := m.sizes[0], m.sizes[1], m.sizes[2]
	last, seed := p.add(sizes{1, rows, in}, 1), 1
	then := func(code device.Code, first int, result sizes, operands ...sizes) {
		next := device.Instr{Code: code, Mask: device.None, In: []device.Ref{last}, I: [2]int{first}}
		for _, s := range operands {
			seed++
			next.In = append(next.In, p.add(s, seed))
		}
		next.Out = p.add(result, 0)
		p.Buffers[next.Out].Host = nil
		p.Instrs, last = append(p.Instrs, next), next.Out
	}
	then(m.by, 0, sizes{1, rows, in}, sizes{1, 1, in})
	if m.function != device.Nop {
		then(m.function, 0, sizes{1, rows, in})
	}
	if shared {
		p.Keep = append(p.Keep, last)
	}
	then(device.Linear, 0, sizes{1, rows, out}, sizes{1, in, out}, sizes{1, 1, out})
	then(device.Add, 0, sizes{1, rows, out}, sizes{1, rows, out})
	if m.from >= 0 {
		then(device.AddColumns, m.from, sizes{1, rows, out}, sizes{1, rows, out / 2})
	}
	then(device.Mish, 0, sizes{1, rows, out})
	p.Keep = append(p.Keep, last)
	return p.Program
}

// What comes before a product and what follows it, columns among it, give the same bits as kernels of
// their own.
func TestWhatPrecedesAProduct(t *testing.T) {
	tf32, bf16 := Target{SM: 90, Precision: TF32, Tile: "packed_TF32_128x128"}, Target{SM: 90, Precision: BF16, Tile: "packed_BF16_128x128"}
	off := tf32
	off.Without = "places,made"
	direct, simt := Target{SM: 90, Precision: TF32, Tile: "direct_TF32_128x128"}, Target{SM: 80}
	pack, product := "pack_made_TF32", "packed_TF32_128x128"
	for _, c := range []struct {
		name   string
		of     made
		shared bool
		target Target
		want   []string // kernels
	}{
		{"scaled", made{device.ColScale, device.Nop, [3]int{130, 41, 48}, -1}, false, tf32, []string{pack, product}},
		{"added", made{device.ColAdd, device.Mish, [3]int{128, 96, 48}, 24}, false, tf32, []string{pack, product}},
		{"first columns", made{device.ColAdd, device.ReLU, [3]int{140, 20, 264}, 0}, false, tf32, []string{pack, product}},
		{"in bf16", made{device.ColAdd, device.SiLU, [3]int{60, 70, 40}, 20}, false, bf16, []string{"pack_made_BF16", "packed_BF16_128x128"}},
		{"whole vectors in bf16", made{device.ColScale, device.ELU, [3]int{60, 72, 40}, -1}, false, bf16, []string{"pack_made_BF16", "packed_BF16_128x128"}},
		{"tanh", made{device.ColScale, device.Tanh, [3]int{40, 33, 40}, -1}, false, tf32, []string{pack, product}},
		{"no whole vectors", made{device.ColAdd, device.Mish, [3]int{40, 33, 36}, 10}, false, tf32, []string{pack, product, "add_columns", "mish"}},
		{"read twice", made{device.ColAdd, device.Mish, [3]int{40, 32, 40}, 20}, true, tf32, []string{"chain", "pack_TF32", product}},
		{"switched off", made{device.ColScale, device.Nop, [3]int{40, 33, 40}, -1}, false, off, []string{"col_scale", "pack_TF32", product}},
		{"direct", made{device.ColAdd, device.Mish, [3]int{40, 32, 40}, 20}, false, direct, []string{"chain", "productNN_direct_TF32_128x128"}},
		{"float32", made{device.ColAdd, device.Mish, [3]int{40, 32, 40}, 20}, false, simt, []string{"chain", "productNN_16x32", "add_columns", "mish"}},
	} {
		p := c.of.of(c.shared)
		segments, err := Segments(p, c.target)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range segments {
			names = append(names, kernelsOf(s.Recipe)...)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%s: kernels %q, want %q", c.name, names, c.want)
		}
		alone, together := newCard(t, c.target), newCard(t, c.target)
		together.chains = true
		want, got := execute(t, alone, clone(p)), execute(t, together, p)
		for i, r := range p.Keep {
			equal(t, fmt.Sprint(c.name, " ", i), got.Data(r), want.Data(r))
		}
	}
}
