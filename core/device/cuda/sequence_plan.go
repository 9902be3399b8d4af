package cuda

import (
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
)

// sequencePlan says where everything is in the block of a sequence, as offsets in bytes.
type sequencePlan struct {
	staged    map[*float32]stagedTensor
	own       []map[*float32]stagedTensor // of each run, in the place of staged ones
	items     map[*device.Items]int
	acts      map[*executable]int
	occasions int // 8 bytes for each run
	gate      int // from here on everything is downloaded
	states    map[any]int
	outputs   []map[device.Ref]int // of each run

	up, block int // sizes of the uploaded part, from 0 on, and of everything
}

type stagedTensor struct {
	host   []float32
	offset int
}

// stateOf identifies a state: that of an optimiser, whichever program steps it, or that of a
// program without an optimiser.
func stateOf(x *executable) any {
	if a := x.program.Adam; a != nil {
		return a.T
	}
	return x
}

// planOf lays out a sequence of bound programs; distinct contains each of the programs once, and own has the tensors of
// each run.
func planOf(runs, distinct []*executable, own []map[*float32][]float32) sequencePlan {
	p := sequencePlan{
		staged: map[*float32]stagedTensor{}, items: map[*device.Items]int{}, acts: map[*executable]int{}, states: map[any]int{},
	}
	end := 0
	take := func(bytes, align int) (at int) {
		at = (end + align - 1) / align * align
		end = at + bytes
		return at
	}
	p.own = make([]map[*float32]stagedTensor, len(runs))
	for i, x := range runs {
		p.own[i] = map[*float32]stagedTensor{}
		for r, place := range x.layout.places { // in this order, so that a layout is repeated exactly
			if place.kind != staged {
				continue
			}
			host := x.program.Buffers[r].Host
			if t, is := own[i][&host[0]]; is {
				p.own[i][&host[0]] = stagedTensor{t, take(padded(4*len(t)), align)}
			}
		}
	}
	for _, x := range distinct {
		for r, place := range x.layout.places {
			if place.kind != staged {
				continue
			}
			host := x.program.Buffers[r].Host
			if _, is := own[slices.Index(runs, x)][&host[0]]; is {
				continue
			}
			if _, known := p.staged[&host[0]]; !known {
				p.staged[&host[0]] = stagedTensor{host, take(padded(4*len(host)), align)}
			}
		}
		for items := range x.layout.words.items {
			if _, known := p.items[items]; !known {
				p.items[items] = take(itemBytes, itemBytes)
			}
		}
		if a := x.program.Routine; a != nil {
			p.acts[x] = take(8*len(a.Words(nil)), 8)
		}
	}
	p.occasions = take(8*len(runs), 8)
	p.gate = take(kernel.GateBytes, align)
	for _, x := range distinct {
		if _, known := p.states[stateOf(x)]; !known {
			p.states[stateOf(x)] = take(kernel.StateBytes, kernel.StateBytes)
		}
	}
	p.up = end
	for _, x := range runs {
		outputs := map[device.Ref]int{}
		for r, place := range x.layout.places {
			if place.kind == output {
				outputs[device.Ref(r)] = take(padded(4*x.program.Buffers[r].Len()), align)
			}
		}
		p.outputs = append(p.outputs, outputs)
	}
	p.block = end
	return p
}
