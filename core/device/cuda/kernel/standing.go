package kernel

import (
	"slices"

	"pgrlab/core/device"
)

// sharing says what may share memory in the segment of a product, at, with instructions before and after it.
// What follows a product works element by element, in one thread for each.
func (u *users) sharing(p *device.Program, first, at, last int, f *following) (s Standing) {
	written := func(i int) bool {
		return i == at && f.own != absent || i > at && f.steps[i-at-1].out != absent
	}
	taken := map[device.Ref]bool{}
	free := at // the first instruction from which on the place of the last result is free
	for i := at + 1; i <= last; i++ {
		r := u.other(p, first, last, i)
		to := i
		for !written(to) {
			to++
		}
		result := p.Instrs[to].Out
		if r == device.None || taken[result] || f.packed > 0 && to == last {
			continue
		}
		taken[result] = true
		if to == last {
			free = i
		}
		s.InPlace = append(s.InPlace, [2]device.Ref{result, r})
	}
	if at-first == 2 { // a function of what a row was added to
		s.InPlace = append(s.InPlace, [2]device.Ref{p.Instrs[at-1].Out, p.Instrs[first].Out})
	}
	for i := free; i < last; i++ {
		if !written(i) {
			s.Inside = append(s.Inside, p.Instrs[i].Out)
		}
	}
	return s
}

// other returns the operand of an instruction that nothing else makes or reads in the segment of instructions
// first to last, if it is of the result's shape and the program's own.
func (u *users) other(p *device.Program, first, last, i int) device.Ref {
	uses := map[device.Ref]int{}
	for _, in := range p.Instrs[first : last+1] {
		for _, r := range append(slices.Clone(in.In), in.Mask, in.Out) {
			uses[r]++
		}
	}
	for _, r := range p.Instrs[i].In {
		if uses[r] == 1 && p.Buffers[r].Host == nil && shapeOf(p, r) == shapeOf(p, p.Instrs[i].Out) {
			return r
		}
	}
	return device.None
}
