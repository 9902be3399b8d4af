package cuda

import (
	"fmt"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
)

// align is the alignment of every buffer's address, in bytes: kernels load vectors, and a row of
// 128 bytes in one transaction.
const align = kernel.Align

// kind is where a buffer of a program lives.
type kind int

const (
	working  kind = iota // the device's workspace, which all programs share
	output               // the program's results, downloaded after each run
	staged               // the host's memory, uploaded before each run
	resident             // the host's memory, kept by the device
	nothing              // no elements: a valid address with nothing there
)

// place is where a buffer is: its kind, and the offset in bytes from the start of that kind.
type place struct {
	kind   kind
	offset int
}

// layout says where everything that a program works on is.
//
// A program has one block of its own on the device. It contains what the host writes before a run,
// the words that both share, and what the host reads after the run,
//
//	staged tensors | words (state last) | outputs
//
// so that one copy brings everything to the device, and one copy brings everything back.
type layout struct {
	places  []place // of each buffer of the program
	scratch [][]int // offsets in the workspace of each step's requests
	owner   []device.Ref

	words words
	// Sizes in bytes: of the uploaded part, of the downloaded part, of both together (the state is
	// in both), and of the workspace.
	up, down, block, work int
}

// words says where the program's block holds numbers that are not tensors: offsets in bytes.
type words struct {
	occasion int
	items    map[*device.Items]int
	routine  int
	state    int // with the gate after it
}

// gateAt is the offset of a program's gate from its state, in the downloaded part.
const gateAt = kernel.StateBytes

// itemBytes is the size of a fill's items: first, idle.
const itemBytes = 16

// step is a range of work that is launched together: instructions first to last of the program, or
// its end, whose first is the number of instructions.
type step struct {
	first, last int
	recipe      kernel.Recipe
	stacks      [][]device.Ref // of kernel.Segment
	standing    kernel.Standing
}

// arrange lays out a program. kept says which tensors of the host the device keeps; steps must
// cover the program.
func arrange(p *device.Program, steps []step, kept func(host []float32) bool) (*layout, error) {
	l := &layout{places: make([]place, len(p.Buffers)), owner: make([]device.Ref, len(p.Buffers)), words: words{items: map[*device.Items]int{}}}
	for i, b := range p.Buffers {
		l.owner[i] = device.Ref(i)
		at := &l.places[i]
		switch {
		case b.Host != nil && len(b.Host) != b.Len():
			return nil, fmt.Errorf("buffer %s holds %d numbers, its shape has %d", b.Name, len(b.Host), b.Len())
		case b.Len() == 0:
			at.kind = nothing
		case b.Host == nil:
		case kept(b.Host):
			at.kind = resident
		default:
			*at = place{staged, l.up}
			l.up += padded(4 * b.Len())
		}
	}
	l.words.occasion = l.up
	l.up += 8
	for _, in := range p.Instrs {
		if _, known := l.words.items[in.Items]; in.Items != nil && !known {
			l.up = (l.up + itemBytes - 1) / itemBytes * itemBytes
			l.words.items[in.Items] = l.up
			l.up += itemBytes
		}
	}
	l.words.routine = l.up
	if p.Routine != nil {
		l.up += 8 * len(p.Routine.Words(nil))
	}
	l.words.state = padded(l.up)
	l.up = l.words.state + kernel.StateBytes + kernel.GateBytes
	end := l.words.state + align
	for _, r := range p.Keep {
		if at := &l.places[r]; at.kind == working {
			*at = place{output, end}
			end += padded(4 * p.Buffers[r].Len())
		}
	}
	l.block, l.down = end, end-l.words.state
	l.live(p, steps)
	return l, nil
}

func padded(bytes int) int { return (bytes + align - 1) / align * align }

// live gives everything that the program makes and uses itself its place in the workspace. A buffer
// lives from the step that makes it to the last step that reads it, and shares no memory with
// anything that lives meanwhile, because a step may execute its instructions row by row at the same
// time, but for what the step says. Scratch memory lives as long as its step, and parts of a buffer as
// long as all of it.
func (l *layout) live(p *device.Program, steps []step) {
	w := newPlacing(l, p, steps)
	l.scratch = make([][]int, len(steps))
	for i, s := range steps {
		w.share(s)
		var refs []device.Ref
		for _, in := range p.Instrs[s.first:min(s.last+1, len(p.Instrs))] {
			for _, r := range operands(in) {
				refs = append(refs, wholeOf(p, r))
			}
		}
		for _, r := range refs {
			w.begin(r)
		}
		for _, elements := range s.recipe.Scratch {
			l.scratch[i] = append(l.scratch[i], w.take(scratchBytes(elements)))
		}
		for k, elements := range s.recipe.Scratch {
			w.give(l.scratch[i][k], scratchBytes(elements))
		}
		for _, r := range refs {
			if l.places[r].kind == working && w.last[r] <= s.last {
				w.give(l.places[r].offset, padded(4*p.Buffers[r].Len()))
				w.last[r] = forever // given once
			}
		}
	}
	for r := range p.Buffers { // what no instruction touches
		w.begin(device.Ref(r))
	}
	for r, b := range p.Buffers {
		if b.Part != nil {
			l.places[r].offset = l.places[b.Part.Of].offset + 4*b.Part.At
		}
	}
	l.work = w.high
	l.owners(p)
}

// placing is the workspace while buffers get their places in it, step by step.
type placing struct {
	arena
	*layout
	program *device.Program
	last    []int // uses; forever also for what need not be given back
	begun   []bool
	stacks  map[device.Ref][]device.Ref
	fixed   map[device.Ref]bool // what is of parts, a part or in a stack
}

func newPlacing(l *layout, p *device.Program, steps []step) *placing {
	w := &placing{layout: l, program: p, last: lastUses(p), begun: make([]bool, len(p.Buffers)), stacks: map[device.Ref][]device.Ref{}, fixed: map[device.Ref]bool{}}
	for _, s := range steps {
		for _, all := range s.stacks {
			for _, r := range all {
				w.stacks[r], w.fixed[r] = all, true
			}
		}
	}
	for r, b := range p.Buffers {
		if b.Part != nil {
			w.fixed[device.Ref(r)], w.fixed[b.Part.Of] = true, true
		}
	}
	return w
}

// begin gives a buffer its place, if it has none.
func (w *placing) begin(r device.Ref) {
	if w.begun[r] || w.places[r].kind != working || wholeOf(w.program, r) != r {
		return
	}
	all, size := w.stacks[r], padded(4*w.program.Buffers[r].Len())
	if all == nil {
		all = []device.Ref{r}
	}
	offset := w.take(len(all) * size)
	for i, each := range all { // the others' places are kept for them
		w.begun[each] = true
		w.places[each].offset = offset + i*size
	}
}

// share gives results of a step the places that the step says. Of two buffers in one place one gives it back.
func (w *placing) share(s step) {
	for _, pair := range s.standing.InPlace {
		if operand := pair[1]; w.last[operand] <= s.last && w.at(pair[0], operand) {
			w.last[operand] = forever
		}
	}
	for _, r := range s.standing.Inside {
		if w.at(r, w.program.Instrs[s.last].Out) {
			w.last[r] = forever
		}
	}
}

// at places r, which has no place yet, where as is, if both may be in any place.
func (w *placing) at(r, as device.Ref) bool {
	if w.begun[r] || w.fixed[r] || w.fixed[as] || w.places[r].kind != working || w.places[as].kind != working {
		return false
	}
	w.begin(as)
	w.begun[r], w.places[r] = true, w.places[as]
	return true
}

// wholeOf returns the buffer that a buffer is a part of, or itself.
func wholeOf(p *device.Program, r device.Ref) device.Ref {
	if part := p.Buffers[r].Part; part != nil {
		return part.Of
	}
	return r
}

func scratchBytes(elements int) int { return padded(max(4, 4*elements)) }

// owners gives, for each buffer, the first buffer that began at its place; of a buffer with parts, its
// first part.
func (l *layout) owners(p *device.Program) {
	first, begins := map[int]device.Ref{}, map[device.Ref]device.Ref{}
	for r, b := range p.Buffers {
		if b.Part != nil && b.Part.At == 0 {
			begins[b.Part.Of] = device.Ref(r)
		}
	}
	for _, in := range p.Instrs {
		if at := l.places[in.Out]; at.kind == working {
			if _, taken := first[at.offset]; !taken {
				first[at.offset] = in.Out
				if part, has := begins[in.Out]; has {
					first[at.offset] = part
				}
			}
			l.owner[in.Out] = first[at.offset]
		}
	}
}

// operands returns the buffers of an instruction, each once, the result first.
func operands(in device.Instr) []device.Ref {
	refs := []device.Ref{in.Out}
	for _, r := range append(slices.Clone(in.In), in.Mask) {
		if r != device.None && !slices.Contains(refs, r) {
			refs = append(refs, r)
		}
	}
	return refs
}

// forever is a use after the last instruction.
const forever = int(^uint(0) >> 1)

// lastUses returns the last instruction that uses each buffer, or a part of it.
func lastUses(p *device.Program) []int {
	last := make([]int, len(p.Buffers))
	for i, in := range p.Instrs {
		for _, r := range operands(in) {
			last[r], last[wholeOf(p, r)] = i, i
		}
	}
	stay := func(refs ...device.Ref) {
		for _, r := range refs {
			if r != device.None {
				last[r], last[wholeOf(p, r)] = forever, forever
			}
		}
	}
	for _, in := range p.Instrs {
		if in.Code == kernel.Squares { // which the end reads
			stay(in.Out)
		}
	}
	stay(p.Finite...)
	if p.Adam != nil {
		stay(p.Adam.Grads...)
		stay(p.Adam.Rate)
	}
	for _, l := range p.Lerps {
		stay(l.Src, l.Dst, l.Rate)
	}
	return last
}

// arena allocates parts of one block; free lists the parts between those in use, by offset.
type arena struct {
	free []span
	high int // the block's size so far
}

type span struct{ at, size int }

// take finds the smallest free part that is large enough, or enlarges the block.
func (a *arena) take(size int) int {
	if size == 0 {
		return 0
	}
	best := -1
	for i, s := range a.free {
		if s.size >= size && (best < 0 || s.size < a.free[best].size) {
			best = i
		}
	}
	if best >= 0 {
		at := a.free[best].at
		a.free[best].at += size
		if a.free[best].size -= size; a.free[best].size == 0 {
			a.free = slices.Delete(a.free, best, best+1)
		}
		return at
	}
	at := a.high
	if n := len(a.free); n > 0 && a.free[n-1].at+a.free[n-1].size == a.high { // grow the last free part
		at = a.free[n-1].at
		a.free = a.free[:n-1]
	}
	a.high = at + size
	return at
}

// give returns a part and joins it with its free neighbours.
func (a *arena) give(at, size int) {
	if size == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(a.free, at, func(s span, at int) int { return s.at - at })
	a.free = slices.Insert(a.free, i, span{at, size})
	if i+1 < len(a.free) && at+size == a.free[i+1].at {
		a.free[i].size += a.free[i+1].size
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].at+a.free[i-1].size == at {
		a.free[i-1].size += a.free[i].size
		a.free = slices.Delete(a.free, i, i+1)
	}
}
