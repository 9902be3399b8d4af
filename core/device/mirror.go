package device

// Mirror is a Device with its own memory, where it keeps tensors that outlive a run: those that any
// of its programs changes (parameters, moments, averages), and those that were pushed. The host's
// memory of a kept tensor is only a copy, which Fetch updates. The device reads everything else
// that a program needs from the host (batches, learning rates) at each run.
type Mirror interface {
	Device
	// Fetch copies the device's numbers of a kept tensor to the host. The tensor is identified by
	// its memory on the host, from its first element on.
	Fetch(tensor []float32) error
	// Push copies the host's numbers to the device, which keeps the tensor from then on: after a
	// later change of the host's memory it must be pushed again.
	Push(tensor []float32) error
}

// Written returns the buffers with host memory that a run changes, in program order.
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
