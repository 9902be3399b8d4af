package cuda

import (
	"encoding/binary"
	"fmt"
	"math"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// link resolves the arguments of all launches to addresses and numbers.
func (x *executable) link() error {
	x.launches = make([][]launch, len(x.steps))
	for i, s := range x.steps {
		var err error
		if x.launches[i], err = x.linked(s.recipe, x.layout.scratch[i], x.device.workspace); err != nil {
			return err
		}
	}
	return x.device.failed(x.device.ctx.Synchronize()) // tables are in place
}

// linked are the launches of a recipe whose scratch memory is at offsets from a
// place.
func (x *executable) linked(r kernel.Recipe, scratch []int, from driver.Ptr) ([]launch, error) {
	var all []launch
	for _, l := range r.Launches {
		f, err := x.device.function(l.Kernel)
		if err != nil {
			return nil, err
		}
		out := launch{function: f, grid: l.Grid, block: l.Block, shared: l.Shared}
		for i, arg := range l.Args {
			a, err := x.argument(arg, scratch, from)
			if err != nil {
				return nil, fmt.Errorf("kernel %s: argument %d: %w", l.Kernel, i, err)
			}
			out.args = append(out.args, a)
		}
		all = append(all, out)
	}
	return all, nil
}

func (x *executable) argument(arg any, scratch []int, from driver.Ptr) (driver.Arg, error) {
	words := x.layout.words
	switch v := arg.(type) {
	case kernel.Operand:
		offset := driver.Ptr(4 * v.Offset)
		if v.Scratch {
			return driver.PtrArg(from + driver.Ptr(scratch[v.Ref]) + offset), nil
		}
		return driver.PtrArg(x.address(v.Ref) + offset), nil
	case kernel.Occasion:
		return driver.PtrArg(x.block + driver.Ptr(words.occasion)), nil
	case kernel.State:
		return driver.PtrArg(x.block + driver.Ptr(words.state)), nil
	case kernel.Live:
		if at, known := words.items[v.Items]; known && v.T == nil {
			return driver.PtrArg(x.block + driver.Ptr(at)), nil
		}
	case kernel.Table:
		return x.table(v, scratch, from)
	}
	return number(arg)
}

// number is an argument that is no address.
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

// table puts words into device memory.
func (x *executable) table(t kernel.Table, scratch []int, from driver.Ptr) (driver.Arg, error) {
	raw := make([]byte, 0, 8*len(t))
	for _, word := range t {
		a, err := x.argument(word, scratch, from)
		if err != nil {
			return a, err
		}
		raw = binary.LittleEndian.AppendUint64(raw, a.Bits)
	}
	d := x.device
	p, err := d.alloc(&d.used.Programs, max(8, len(raw)))
	if err != nil {
		return driver.Arg{}, err
	}
	x.tables = append(x.tables, allocation{p, max(8, len(raw))})
	return driver.PtrArg(p), d.failed(d.ctx.Upload(p, raw))
}

// address is where a buffer is.
func (x *executable) address(r device.Ref) driver.Ptr {
	at := x.layout.places[r]
	switch at.kind {
	case resident:
		return x.held[r].At
	case working:
		return x.device.workspace + driver.Ptr(at.offset)
	case staged, output:
		return x.block + driver.Ptr(at.offset)
	}
	return x.block // of nothing: an address that there is
}

// graphWork bounds the arithmetic of one graph, in floating-point operations: other
// users of the GPU, a screen among them, wait for whole graphs. At 10 TFLOP/s, the
// rate of a modest card in fp32, it takes 20 ms.
const graphWork = 200e9

// capture makes graphs of a run: everything goes up, the steps, everything comes
// down.
func (x *executable) capture() error {
	for from := 0; from < len(x.steps); {
		to := from + 1
		for work := x.work(from); to < len(x.steps) && work+x.work(to) < graphWork; to++ {
			work += x.work(to)
		}
		graph, err := x.device.ctx.Capture(func() error { return x.record(from, to) })
		if err != nil {
			return x.device.failed(err)
		}
		x.graphs = append(x.graphs, graph)
		from = to
	}
	return nil
}

// work is the arithmetic of a step.
func (x *executable) work(i int) (flops float64) {
	for _, in := range x.program.Instrs[x.steps[i].first:min(x.steps[i].last+1, len(x.program.Instrs))] {
		flops += float64(x.program.FLOPs(in))
	}
	return flops
}

// record puts steps from to to−1 into the stream, with what comes before the first
// and after the last.
func (x *executable) record(from, to int) error {
	ctx := x.device.ctx
	if from == 0 {
		if err := ctx.Upload(x.block, x.up); err != nil {
			return err
		}
	}
	for _, launches := range x.launches[from:to] {
		if err := x.launch(launches); err != nil {
			return err
		}
	}
	if to < len(x.steps) {
		return nil
	}
	return ctx.Download(x.down, x.block+driver.Ptr(x.layout.words.state))
}

func (x *executable) launch(launches []launch) error {
	for _, l := range launches {
		if err := x.device.ctx.Launch(l.function, l.grid, l.block, l.shared, l.args...); err != nil {
			return fmt.Errorf("launch %s: %w", l.function.Name(), err)
		}
	}
	return nil
}
