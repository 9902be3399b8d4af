package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// frame is where a run of a program finds what differs between runs: what the host writes before
// the run and reads after it. A program that runs alone has one frame; a program of a sequence has
// one frame for each of its runs there.
type frame struct {
	host                             func(r device.Ref) driver.Ptr // of staged tensors and outputs
	items                            func(i *device.Items) driver.Ptr
	occasion, routine, state, gateTo driver.Ptr
	turn                             uint32 // the value that the run writes to the gate
	tables                           *tables
}

// frame returns the program's own frame.
func (x *executable) frame() frame {
	words := x.layout.words
	in := func(offset int) driver.Ptr { return x.block + driver.Ptr(offset) }
	return frame{
		host:     func(r device.Ref) driver.Ptr { return in(x.layout.places[r].offset) },
		items:    func(i *device.Items) driver.Ptr { return in(words.items[i]) },
		occasion: in(words.occasion), routine: in(words.routine), state: in(words.state), gateTo: in(words.state + gateAt),
		turn: 1, tables: &x.tables,
	}
}

// memories is where a step finds everything: the scratch memory of its recipe at offsets in the
// workspace, and what the recipe keeps.
type memories struct {
	frame
	workspace driver.Ptr
	scratch   []int
	kept      []driver.Ptr
}

// linked returns all steps in a frame, with their arguments resolved to addresses and numbers. What
// steps keep is laid out in each of them, but for what lasts: that is returned by itself.
func (x *executable) linked(f frame, lasts func(k *kept) bool) (all []part, stale []laying, err error) {
	all = make([]part, len(x.steps))
	for i, s := range x.steps {
		m := memories{frame: f, workspace: x.workspace(), scratch: x.layout.scratch[i], kept: addresses(x.kept[i])}
		for j, k := range x.kept[i] {
			launches, err := x.launches(s.recipe.Kept[j].Launches, m)
			if err != nil {
				return nil, nil, err
			}
			if lasts(k) {
				stale = append(stale, laying{k, launches})
			} else {
				all[i].launches = append(all[i].launches, launches...)
			}
		}
		launches, err := x.launches(s.recipe.Launches, m)
		if err != nil {
			return nil, nil, err
		}
		all[i].launches = append(all[i].launches, launches...)
		all[i].flops = x.work(i) + launchWork*float64(len(all[i].launches))
	}
	return all, stale, nil
}

// launches resolves the arguments of launches.
func (x *executable) launches(unresolved []kernel.Launch, m memories) ([]launch, error) {
	var all []launch
	for _, l := range unresolved {
		function, err := x.device.function(l.Kernel)
		if err != nil {
			return nil, err
		}
		out := launch{function: function, grid: l.Grid, block: l.Block, shared: l.Shared}
		for i, arg := range l.Args {
			a, err := x.argument(arg, m)
			if err != nil {
				return nil, fmt.Errorf("kernel %s: argument %d: %w", l.Kernel, i, err)
			}
			out.args = append(out.args, a)
		}
		all = append(all, out)
	}
	return all, nil
}

func (x *executable) argument(arg any, m memories) (driver.Arg, error) {
	switch v := arg.(type) {
	case kernel.Operand:
		offset := driver.Ptr(4 * v.Offset)
		if v.Scratch {
			return driver.PtrArg(m.workspace + driver.Ptr(m.scratch[v.Ref]) + offset), nil
		}
		return driver.PtrArg(x.address(v.Ref, m.frame) + offset), nil
	case kernel.Keep:
		return driver.PtrArg(m.kept[v]), nil
	case kernel.Occasion:
		return driver.PtrArg(m.occasion), nil
	case kernel.State:
		return driver.PtrArg(m.state), nil
	case kernel.Gate:
		return driver.PtrArg(m.gateTo), nil
	case kernel.Turn:
		return driver.U32(m.turn), nil
	case kernel.Words:
		return driver.PtrArg(m.routine), nil
	case kernel.Stored:
		if s, ours := v.Store.(*store); ours && s.device == x.device {
			if s.at == 0 {
				return driver.Arg{}, &device.OutOfMemory{Err: errors.New("the rows of a store have been given up")}
			}
			return driver.PtrArg(s.at), nil
		}
		return driver.Arg{}, fmt.Errorf("a store of another device")
	case kernel.Live:
		if _, known := x.layout.words.items[v.Items]; known && v.T == nil {
			return driver.PtrArg(m.items(v.Items)), nil
		}
	case kernel.Table:
		raw := make([]byte, 0, 8*len(v))
		for _, word := range v {
			a, err := x.argument(word, m)
			if err != nil {
				return a, err
			}
			raw = binary.LittleEndian.AppendUint64(raw, a.Bits)
		}
		return m.tables.put(x.device, raw)
	}
	return number(arg)
}

// number returns an argument that is not an address.
func number(arg any) (driver.Arg, error) {
	switch v := arg.(type) {
	case uint32:
		return driver.U32(v), nil
	case int32:
		return driver.I32(v), nil
	case uint64:
		return driver.U64(v), nil
	case int64:
		return driver.U64(uint64(v)), nil
	case float32:
		return driver.F32(v), nil
	case float64:
		return driver.U64(math.Float64bits(v)), nil
	}
	return driver.Arg{}, fmt.Errorf("%T is not an argument", arg)
}

// tables holds arrays of words in device memory, each array once.
type tables struct {
	all  []allocation
	have map[string]driver.Ptr
}

// put returns the address of an array with that content.
func (t *tables) put(d *Device, raw []byte) (driver.Arg, error) {
	if p, ok := t.have[string(raw)]; ok {
		return driver.PtrArg(p), nil
	}
	p, err := d.alloc(&d.used.Programs, max(8, len(raw)))
	if err != nil {
		return driver.Arg{}, err
	}
	if t.have == nil {
		t.have = map[string]driver.Ptr{}
	}
	t.all, t.have[string(raw)] = append(t.all, allocation{p, max(8, len(raw))}), p
	return driver.PtrArg(p), d.failed(d.ctx.Upload(p, raw))
}

// free releases all tables.
func (t *tables) free(d *Device) (err error) {
	for _, a := range t.all {
		err = errors.Join(err, d.free(&d.used.Programs, a.at, a.bytes))
	}
	*t = tables{}
	return err
}

// address returns where a buffer is.
func (x *executable) address(r device.Ref, f frame) driver.Ptr {
	at := x.layout.places[r]
	switch at.kind {
	case resident:
		return x.held[r].At
	case working:
		return x.workspace() + driver.Ptr(at.offset)
	case staged, output:
		return f.host(r)
	}
	return x.block // no elements: any valid address
}

// work returns the arithmetic of a step.
func (x *executable) work(i int) (flops float64) {
	for _, in := range x.program.Instrs[x.steps[i].first:min(x.steps[i].last+1, len(x.program.Instrs))] {
		flops += float64(x.program.FLOPs(in))
	}
	return flops
}
