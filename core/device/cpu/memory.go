package cpu

import "pgrlab/core/device"

// memory gives the program's own buffers their memory. Buffers of one shape share memory if their
// lifetimes do not overlap: a buffer lives from the instruction that makes it to the last one that
// reads it.
//
// Only equal shapes share, so that a lane owns the same part of both buffers. If a lane would still
// overwrite what another one reads, the scheduler, which tracks memory, puts a barrier.
type memory struct {
	c    *compiler
	last []int // the last instruction that uses a buffer; forever: in use to the end
	free map[[3]int][]device.Ref
	// owner is the buffer whose memory a buffer uses; itself if nothing is shared.
	owner []device.Ref
}

const forever = int(^uint(0) >> 1)

func newMemory(c *compiler) *memory {
	p := c.p
	m := &memory{c: c, last: make([]int, len(p.Buffers)), owner: make([]device.Ref, len(p.Buffers)), free: map[[3]int][]device.Ref{}}
	for r := range m.owner {
		m.owner[r] = device.Ref(r)
	}
	for i, in := range p.Instrs {
		for _, r := range append(append([]device.Ref{in.Out}, in.In...), in.Mask) {
			if r != device.None {
				m.last[r] = i
			}
		}
	}
	for _, r := range kept(p) {
		m.last[r] = forever
	}
	return m
}

// kept returns the buffers that are read after the last instruction.
func kept(p *device.Program) (refs []device.Ref) {
	all := append(append([]device.Ref(nil), p.Keep...), p.Finite...)
	if p.Adam != nil {
		all = append(all, p.Adam.Grads...)
	}
	for _, l := range p.Lerps {
		all = append(all, l.Src, l.Dst, l.Rate)
	}
	for _, r := range all {
		if r != device.None {
			refs = append(refs, r)
		}
	}
	return refs
}

func (m *memory) shape(r device.Ref) [3]int {
	b := m.c.p.Buffers[r]
	return [3]int{b.Members, b.Rows, b.Cols}
}

// make gives the result of an instruction its memory, before the instruction is emitted.
func (m *memory) make(r device.Ref) {
	if m.c.data[r] != nil {
		return
	}
	idle := m.free[m.shape(r)]
	for i, old := range idle {
		if m.last[r] != forever && m.quiet(old) {
			m.free[m.shape(r)] = append(idle[:i:i], idle[i+1:]...)
			m.owner[r] = old
			m.c.data[r] = m.c.data[old]
			m.c.schedule.memory[buf(r)] = int(old)
			return
		}
	}
	m.c.data[r] = aligned(m.c.p.Buffers[r].Len())
}

// quiet reports whether lanes that divide a buffer as its last users did can overwrite it without a
// barrier.
func (m *memory) quiet(r device.Ref) bool {
	for _, a := range m.c.schedule.since[int(r)] {
		if a.split.by != byRows && a.split.by != byColumns && a.split.by != byMembers {
			return false
		}
	}
	return true
}

// done frees the buffers that instruction i was the last to use.
func (m *memory) done(i int, in device.Instr) {
	seen := map[device.Ref]bool{}
	for _, r := range append(append([]device.Ref{in.Out}, in.In...), in.Mask) {
		if r == device.None || seen[r] || m.last[r] != i || m.c.p.Buffers[r].Host != nil {
			continue
		}
		if _, partial := m.c.copies[r]; partial {
			continue
		}
		seen[r] = true
		s := m.shape(r)
		m.free[s] = append(m.free[s], m.owner[r])
	}
}
