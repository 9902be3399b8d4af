package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
)

// anyProgram is a program of n random instructions, with the recipes that it would have, and with
// random shapes and operands.
func anyProgram(r *rand.Rand, n int) (*device.Program, []step) {
	p := &device.Program{}
	buffer := func(host bool) device.Ref {
		b := device.Buffer{Members: 1 + r.IntN(2), Rows: r.IntN(9), Cols: 1 + r.IntN(90)}
		if host && b.Rows == 0 {
			b.Rows = 1
		}
		if host {
			b.Host = make([]float32, b.Len())
		}
		p.Buffers = append(p.Buffers, b)
		return device.Ref(len(p.Buffers) - 1)
	}
	for range 4 {
		buffer(true)
	}
	items := []*device.Items{nil, {}, {}}
	var steps []step
	var parts []device.Ref
	for i := range n {
		in := device.Instr{Code: device.Add, Mask: device.None, Items: items[r.IntN(3)]}
		for range 1 + r.IntN(3) {
			in.In = append(in.In, device.Ref(r.IntN(len(p.Buffers))))
		}
		if r.IntN(4) == 0 {
			in.Mask = device.Ref(r.IntN(len(p.Buffers)))
		}
		if r.IntN(8) == 0 && len(parts) == 0 {
			parts = parted(r, p)
		}
		if len(parts) > 0 {
			in.Out, parts = parts[0], parts[1:]
		} else {
			in.Out = buffer(r.IntN(10) == 0)
		}
		p.Instrs = append(p.Instrs, in)
		recipe := kernel.Recipe{}
		for range r.IntN(3) {
			recipe.Scratch = append(recipe.Scratch, r.IntN(500))
		}
		if last := len(steps) - 1; last >= 0 && r.IntN(3) == 0 {
			steps[last].last = i
			steps[last].recipe.Scratch = append(steps[last].recipe.Scratch, recipe.Scratch...)
		} else {
			steps = append(steps, step{first: i, last: i, recipe: recipe})
		}
		switch r.IntN(12) {
		case 0:
			if p.Buffers[in.Out].Part == nil {
				p.Keep = append(p.Keep, in.Out)
			}
		case 1:
			p.Finite = append(p.Finite, in.Out)
		case 2:
			p.Lerps = append(p.Lerps, device.Lerp{Dst: 0, Src: in.Out, Rate: device.None})
		}
	}
	return p, append(steps, step{first: n, last: n, recipe: kernel.Recipe{Scratch: []int{r.IntN(500)}}})
}

// parted adds a buffer and its parts, which it returns.
func parted(r *rand.Rand, p *device.Program) (parts []device.Ref) {
	whole := device.Ref(len(p.Buffers))
	b := device.Buffer{Members: 2 + r.IntN(3), Rows: 1 + r.IntN(3), Cols: 64}
	p.Buffers = append(p.Buffers, b)
	for i := range b.Members {
		parts = append(parts, device.Ref(len(p.Buffers)))
		p.Buffers = append(p.Buffers, device.Buffer{Members: 1, Rows: b.Rows, Cols: b.Cols, Part: &device.Part{Of: whole, At: i * b.Rows * b.Cols}})
	}
	return parts
}

// Buffers that live at the same time share no memory, and nothing lies outside of its block.
func TestLivingBuffersKeepApart(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		p, steps := anyProgram(r, 1+r.IntN(40))
		l, err := arrange(p, steps, func(host []float32) bool { return &host[0] == &p.Buffers[0].Host[0] })
		if err != nil {
			t.Fatal(err)
		}
		if whole := livingApart(t, seed, p, steps, l); l.work < whole || l.work > 2*whole+align {
			t.Errorf("seed %d: a workspace of %d bytes for at most %d at a time", seed, l.work, whole)
		}
		apartInBlock(t, p, l)
	}
}

// livingApart checks that buffers that live at the same time share no memory, and returns the most bytes that live at a time.
func livingApart(t *testing.T, seed uint64, p *device.Program, steps []step, l *layout) (whole int) {
	t.Helper()
	last := lastUses(p)
	for i, s := range steps {
		var living []span
		occupy := func(at, bytes int) {
			living = append(living, span{at, padded(bytes)})
		}
		wholes := map[device.Ref]bool{}
		for made, in := range p.Instrs[:min(s.last+1, len(p.Instrs))] {
			out := wholeOf(p, in.Out)
			if part := p.Buffers[in.Out].Part; part != nil && l.places[in.Out].offset != l.places[out].offset+4*part.At {
				t.Fatalf("seed %d: part %+v is at %d of its buffer", seed, part, l.places[in.Out].offset-l.places[out].offset)
			}
			if at := l.places[out]; at.kind == working && !wholes[out] && (last[out] >= s.first || made >= s.first) {
				occupy(at.offset, 4*p.Buffers[out].Len())
				wholes[out] = out != in.Out
			}
		}
		for k, elements := range s.recipe.Scratch {
			occupy(l.scratch[i][k], 4*elements)
		}
		slices.SortFunc(living, func(a, b span) int { return a.at - b.at })
		sum := 0
		for j, s := range living {
			sum += s.size
			if s.at%align != 0 || s.at+s.size > l.work {
				t.Fatalf("seed %d, step %d: %+v in a workspace of %d bytes", seed, i, s, l.work)
			}
			if j > 0 && s.size > 0 && living[j-1].at+living[j-1].size > s.at {
				t.Fatalf("seed %d, step %d: %+v and %+v meet", seed, i, living[j-1], s)
			}
		}
		whole = max(whole, sum)
	}
	return whole
}

// apartInBlock checks that staged tensors, words and outputs have places of their own in a
// program's block.
func apartInBlock(t *testing.T, p *device.Program, l *layout) {
	t.Helper()
	all := []span{{l.words.occasion, 8}, {l.words.state, kernel.StateBytes + kernel.GateBytes}}
	for _, at := range l.words.items {
		all = append(all, span{at, itemBytes})
		if at%itemBytes != 0 {
			t.Errorf("items at %d", at)
		}
	}
	for r, at := range l.places {
		b := p.Buffers[r]
		switch {
		case b.Len() == 0:
			if at.kind != nothing {
				t.Errorf("an empty buffer is of kind %d", at.kind)
			}
		case at.kind == staged, at.kind == output:
			all = append(all, span{at.offset, 4 * b.Len()})
			if at.offset%align != 0 || (b.Host != nil) != (at.kind == staged) || (at.offset < l.words.state) != (at.kind == staged) {
				t.Errorf("buffer %d: %+v", r, at)
			}
		case at.kind == resident:
			if b.Host == nil {
				t.Errorf("buffer %d of no tensor is resident", r)
			}
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.at - b.at })
	for i := 1; i < len(all); i++ {
		if all[i-1].at+all[i-1].size > all[i].at {
			t.Errorf("%+v and %+v meet", all[i-1], all[i])
		}
	}
	end := all[len(all)-1]
	if end.at+end.size > l.block || l.up != l.words.state+kernel.StateBytes+kernel.GateBytes || l.down != l.block-l.words.state {
		t.Errorf("the last is %+v: up %d, down %d, block %d", end, l.up, l.down, l.block)
	}
}

func TestAnArenaJoinsWhatIsGivenBack(t *testing.T) {
	var a arena
	first, second, third := a.take(256), a.take(512), a.take(256)
	a.give(first, 256)
	a.give(third, 256)
	a.give(second, 512)
	if len(a.free) != 1 || a.free[0] != (span{0, 1024}) {
		t.Errorf("free are %+v", a.free)
	}
	if at := a.take(2048); at != 0 || a.high != 2048 || len(a.free) != 0 {
		t.Errorf("a larger one is at %d of %d, free are %+v", at, a.high, a.free)
	}
}
