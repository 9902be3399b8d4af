package kernel

import (
	"fmt"
	"slices"

	"pgrlab/core/device"
)

// Kept is a weight that packed.go has laid out in memory which outlives runs: it need not be laid
// out again until the weight changes. A generator samples with the same weights hundreds of times.
type Kept struct {
	Of       device.Ref // a tensor of the host that the program does not write
	Layout   string     // of one tensor, two with the same Layout are alike, in all programs
	Elements int        // float32
	// Launches lay it out. Their arguments are numbers, Operands that are Of, and the Keep.
	Launches []Launch
}

// Keep as an argument is the address of the memory of a Kept, by its index in the recipe.
type Keep int

// laidOut returns the memory in which an operand is packed: if it is a weight that the program only
// reads, it is kept, otherwise the recipe packs it into scratch memory.
func (b *builder) laidOut(s source, members, each, padded int) (to any) {
	elements := members * each * padded * lineBytes / 4
	if !b.onlyRead(s.x.Ref) || s.index != absent {
		to = b.scratch(elements)
		b.pack(to, s, members, each, padded)
		return to
	}
	keep := Keep(len(b.recipe.Kept))
	before := len(b.recipe.Launches)
	b.pack(keep, s, members, each, padded)
	k := Kept{
		Of: s.x.Ref, Elements: elements, Launches: slices.Clone(b.recipe.Launches[before:]),
		Layout: fmt.Sprint(b.target.Precision, s.x.Offset, s.rows, s.cols, s.stride, s.turned, members, each, padded),
	}
	b.recipe.Launches = b.recipe.Launches[:before]
	b.recipe.Kept = append(b.recipe.Kept, k)
	return keep
}

// onlyRead reports whether a buffer is a tensor of the host that the program does not write.
func (b *builder) onlyRead(r device.Ref) bool {
	if b.program.Buffers[r].Host == nil {
		return false
	}
	memory := memoryOf(b.program, r)
	return !slices.ContainsFunc(b.program.Written(), func(w device.Ref) bool { return memoryOf(b.program, w) == memory })
}
