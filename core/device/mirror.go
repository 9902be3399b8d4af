package device

// Mirror is a Device with memory of its own, on which it keeps tensors that
// outlive a run: those that any of its programs changes (parameters, moments,
// averages), and those that were pushed. The host's memory of a kept tensor is
// only a copy, brought up to date by Fetch. Everything else that a program reads
// from the host (batches, learning rates) the device reads at each run.
type Mirror interface {
	Device
	// Fetch brings the device's numbers to a kept tensor's memory on the host. The
	// tensor is named by that memory, from its first element on.
	Fetch(tensor []float32) error
	// Push brings the host's numbers to the device, which from then on keeps the
	// tensor: after a later change of the host's memory it must be pushed again.
	Push(tensor []float32) error
}

// Written are the buffers with memory on the host that a run changes, in the order
// of the program.
func (p *Program) Written() []Ref {
	var all []Ref
	seen := map[Ref]bool{}
	add := func(refs ...Ref) {
		for _, r := range refs {
			if r != None && p.Buffers[r].Host != nil && !seen[r] {
				seen[r] = true
				all = append(all, r)
			}
		}
	}
	for _, in := range p.Instrs {
		add(in.Out)
	}
	if a := p.Adam; a != nil {
		add(a.Params...)
		add(a.M...)
		add(a.V...)
	}
	for _, l := range p.Lerps {
		add(l.Dst)
	}
	if p.Routine != nil {
		add(p.Routine.Writes()...)
	}
	return all
}
