package kernel

import (
	"fmt"

	"pgrlab/core/device"
)

// Finish returns the recipe for the end of a program, after its instructions: the check that its
// gradients and its Finite buffers are finite, the step of the optimiser, the updates of the
// averages. The recipe is empty if the program has none of these.
//
// A program with a Routine has nothing else: its end is the routine.
//
// Tensors are processed together, through a table of their addresses in device memory. The check is
// one launch. The optimiser is one launch, which also updates averages, both of what it steps and
// of other tensors. The averages that must come after it are one launch, or more if one needs what
// another one wrote.
func Finish(p *device.Program, t Target) (Recipe, error) {
	f := &finish{builder: builder{program: p, target: t}}
	if p.Routine != nil {
		if err := f.routine(p.Routine); err != nil {
			return Recipe{}, fmt.Errorf("lower program %s: %w", p.Name, err)
		}
		return f.recipe, nil
	}
	f.check()
	rest := f.adam()
	f.averages(rest)
	if f.err != nil {
		return Recipe{}, fmt.Errorf("lower the end of program %s: %w", p.Name, f.err)
	}
	return f.recipe, nil
}

type finish struct {
	builder
	err error
}

const (
	chunk        = 1024 // elements that a block of 256 threads takes at a time
	chunkThreads = 256
	clipThreads  = 1024 // for each tensor
	checkBlocks  = 1024 // as many sums for the last block
	chunkBlocks  = 1 << 14
)

// tensors is a table of tensors: rows of width words, the first of which counts the chunks before
// the row's own.
type tensors struct {
	table        Table
	rows, chunks int
}

// add appends a row: the number of elements, then whatever else the kernel needs for it.
func (t *tensors) add(n int, words ...any) {
	if n == 0 {
		return
	}
	t.table = append(append(t.table, uint64(t.chunks), uint64(n)), words...)
	t.rows++
	t.chunks += (n + chunk - 1) / chunk
}

// over launches a kernel over the chunks of a table; the arguments before and after surround the
// table's.
func (f *finish) over(kernel string, t tensors, maxBlocks int, before, after []any) {
	if t.chunks > 1<<31-1 {
		f.err = fmt.Errorf("%s: %d elements and more: at most %d", kernel, t.chunks*chunk, (1<<31-1)*chunk)
		return
	}
	args := append(before, t.table, uint32(t.rows), uint32(t.chunks))
	f.launch(kernel, [3]uint32{uint32(max(1, min(t.chunks, maxBlocks))), 1, 1}, chunkThreads, 0, append(args, after...)...)
}

func (f *finish) check() {
	a := f.program.Adam
	if a == nil && len(f.program.Finite) == 0 {
		return
	}
	var t tensors
	if a != nil {
		summed := f.squares(&t)
		for _, r := range a.Grads {
			if !summed[r] {
				t.add(f.size(r), at(r, 0), uint64(0))
			}
		}
	}
	for _, r := range f.program.Finite {
		t.add(f.size(r), at(r, 0), uint64(1))
	}
	if t.rows == 0 { // there is something to decide nevertheless
		t.table = Table{uint64(0), uint64(0), uint64(0), uint64(0)}
	}
	partial := f.scratch(4 * max(1, min(t.chunks, checkBlocks)))
	constants := []any{uint64(0), 0.0, 0.0, 0.0, 0.0, float64(device.MaxGradientNorm)}
	if a != nil {
		constants = []any{at(a.Rate, 0), float64(float32(a.Beta1)), float64(float32(a.Beta2)), a.WeightDecay, a.ClipNorm, float64(device.MaxGradientNorm)}
	}
	f.over("check", t, checkBlocks, []any{State{}, Gate{}, Turn{}, partial}, constants)
}

// squares adds the sums of squares that products have left of the gradients that they made, and returns those gradients.
func (f *finish) squares(t *tensors) map[device.Ref]bool {
	summed := map[device.Ref]bool{}
	for _, in := range f.program.Instrs {
		if in.Code != Squares {
			continue
		}
		t.add(f.size(in.Out)/2, at(in.Out, 0), uint64(2))
		for _, r := range in.In {
			summed[r] = true
		}
	}
	return summed
}

// adam emits the optimiser's step and returns the averages that it did not move.
func (f *finish) adam() (rest []device.Lerp) {
	a := f.program.Adam
	if a == nil {
		return f.program.Lerps
	}
	moved, beside, rest := f.fuse()
	var t tensors
	none, scale := any(uint64(0)), f.clip(a)
	for i, w := range a.Params {
		to, rate := none, none
		if l, ok := moved[i]; ok {
			to, rate = at(l.Dst, 0), f.rate(l)
		}
		t.add(f.size(w), at(w, 0), at(a.M[i], 0), at(a.V[i], 0), at(a.Grads[i], 0), to, rate, scale(i))
	}
	for _, l := range beside {
		t.add(f.size(l.Dst), at(l.Src, 0), none, none, none, at(l.Dst, 0), f.rate(l), none)
	}
	if t.rows > 0 {
		f.over(a.Rule.String(), t, chunkBlocks, []any{State{}, Gate{}}, []any{float32(a.Beta1), float32(a.Beta2), float32(a.Eps)})
	}
	return rest
}

// clip emits the norms by which gradients are clipped one by one, and returns where the factor of each
// is.
func (f *finish) clip(a *device.Adam) (scale func(i int) any) {
	if a.ClipTensor == 0 || len(a.Params) == 0 {
		return func(int) any { return uint64(0) }
	}
	scales := f.scratch(len(a.Params))
	var t Table
	for i, w := range a.Params {
		t = append(t, uint64(f.size(w)), at(w, 0), at(a.Grads[i], 0))
	}
	f.launch("clip_tensors", [3]uint32{uint32(len(a.Params)), 1, 1}, clipThreads, 0,
		scales, State{}, Gate{}, t, a.ClipTensor, float64(device.LeastNorm))
	return func(i int) any { return shifted(scales, i) }
}

// fuse chooses the averages that the optimiser's launch updates: for a parameter, the first average
// that has it as its source, and in addition averages that do not involve what is stepped. An
// average is excluded if this would change the order, because an earlier one writes what it reads
// or touches what it writes.
func (f *finish) fuse() (moved map[int]device.Lerp, beside, rest []device.Lerp) {
	a := f.program.Adam
	moved = map[int]device.Lerp{}
	param := map[*float32]int{}
	var taken, before touched // by the launch; by averages that come after it
	for i, r := range a.Params {
		param[f.memory(r)] = i
		taken.write(f.memory(r), f.memory(a.M[i]), f.memory(a.V[i]))
		taken.read(f.memory(a.Grads[i]))
	}
	for _, l := range f.program.Lerps {
		dst, src, rate := f.memory(l.Dst), f.memory(l.Src), f.rateMemory(l)
		i, steps := param[src]
		_, again := moved[i]
		free := !taken.has(dst) && !taken.writes[rate] && !before.has(dst) && !before.writes[src] && !before.writes[rate]
		switch {
		case free && src != nil && steps && !again:
			moved[i] = l
			taken.write(dst)
			taken.read(rate)
		case free && !taken.writes[src]:
			beside = append(beside, l)
			taken.write(dst)
			taken.read(src, rate)
		default:
			rest = append(rest, l)
			before.write(dst)
			before.read(src, rate)
		}
	}
	return moved, beside, rest
}

// touched is the sets of memory that something reads and writes.
type touched struct{ reads, writes map[*float32]bool }

func (t *touched) read(of ...*float32) {
	if t.reads == nil {
		t.reads = map[*float32]bool{}
	}
	for _, m := range of {
		t.reads[m] = m != nil
	}
}

func (t *touched) write(of ...*float32) {
	if t.writes == nil {
		t.writes = map[*float32]bool{}
	}
	for _, m := range of {
		t.writes[m] = m != nil
	}
}

func (t *touched) has(m *float32) bool { return t.reads[m] || t.writes[m] }

// memory identifies memory that outlives the program; nil for a buffer of its own, or one without
// elements.
func (f *finish) memory(r device.Ref) *float32 {
	if host := f.program.Buffers[r].Host; len(host) > 0 {
		return &host[0]
	}
	return nil
}

func (f *finish) rate(l device.Lerp) any {
	if l.Rate == device.None {
		return uint64(0)
	}
	return at(l.Rate, 0)
}

func (f *finish) rateMemory(l device.Lerp) *float32 {
	if l.Rate == device.None {
		return nil
	}
	return f.memory(l.Rate)
}

// averages emits the updates, together as long as none depends on or disturbs another.
func (f *finish) averages(lerps []device.Lerp) {
	var t tensors
	var group touched
	flush := func() {
		if t.rows > 0 {
			f.over("averages", t, chunkBlocks, []any{Gate{}}, nil)
		}
		t, group = tensors{}, touched{}
	}
	for _, l := range lerps {
		dst, src, rate := f.memory(l.Dst), f.memory(l.Src), f.rateMemory(l)
		if group.has(dst) || group.writes[src] || group.writes[rate] {
			flush()
		}
		t.add(f.size(l.Dst), at(l.Dst, 0), at(l.Src, 0), f.rate(l))
		group.write(dst)
		group.read(src, rate)
	}
	flush()
}
