package cuda

import (
	"errors"
	"fmt"

	"pgrlab/core/device/cuda/driver"
)

// bound is what a program or a sequence holds on the device while its addresses are valid: a block,
// pinned memory, tables, and graphs of its work. An empty bound holds nothing.
type bound struct {
	complete bool // everything is in place, as of epoch and version
	epoch    int  // of the device
	version  int  // of the residents
	block    driver.Ptr
	bytes    int    // of the block
	up, down []byte // pinned memory for the beginning of the block and for its end
	tables   tables
	parts    []part
	graphs   []driver.Graph
}

// part is the launches of one step of a program.
type part struct {
	launches []launch
	flops    float64 // their arithmetic, plus the fixed cost of launches
}

// launch is a kernel with its arguments.
type launch struct {
	function    driver.Function
	grid, block [3]uint32
	shared      uint32
	args        []driver.Arg
}

// graphWork bounds the arithmetic of one graph, in floating-point operations, because other users
// of the GPU, including a display, wait for whole graphs. At 10 TFLOP/s, the fp32 rate of a modest
// card, it takes 20 ms.
const graphWork = 200e9

// launchWork is the fixed cost of a launch, about 3 µs, in the same unit.
const launchWork = 30e6

// take allocates a block, whose first bytes are uploaded and whose last ones are downloaded.
func (b *bound) take(d *Device, block, up, down int) (err error) {
	b.bytes = block
	if b.block, err = d.alloc(&d.used.Programs, block); err != nil {
		return err
	}
	if b.up, err = d.ctx.AllocHost(up); err != nil {
		return d.failed(err)
	}
	b.down, err = d.ctx.AllocHost(down)
	return d.failed(err)
}

// settle waits for the tables to be in place and marks the bound as complete, as of the device's epoch
// when the first address was resolved: the tables may have taken the memory of a store that was
// resolved before them.
func (b *bound) settle(d *Device, epoch int) error {
	if err := d.failed(d.ctx.Synchronize()); err != nil {
		return err
	}
	b.complete, b.epoch, b.version = true, epoch, d.residents.Version
	return nil
}

// holds reports whether the addresses are still valid.
func (b *bound) holds(d *Device) bool {
	return b.complete && b.version == d.residents.Version && b.epoch == d.epoch
}

// unbind gives everything back.
func (b *bound) unbind(d *Device) (err error) {
	if !d.gone() {
		for _, g := range b.graphs {
			err = errors.Join(err, g.Close())
		}
		for _, pinned := range [][]byte{b.up, b.down} {
			if pinned != nil {
				err = errors.Join(err, d.ctx.FreeHost(pinned))
			}
		}
	}
	err = errors.Join(err, b.tables.free(d), d.free(&d.used.Programs, b.block, b.bytes))
	*b = bound{}
	return err
}

// capture makes graphs of a run, none longer than the limit: upload, parts, download. If capture
// fails, everything must be bound again.
func (b *bound) capture(d *Device) error {
	for from := 0; from < len(b.parts); {
		to := from + 1
		for sum := b.parts[from].flops; to < len(b.parts) && sum+b.parts[to].flops < d.longest; to++ {
			sum += b.parts[to].flops
		}
		graph, err := d.ctx.Capture(func() error { return b.record(d, from, to) })
		if err != nil {
			b.complete = false
			return d.failed(err)
		}
		b.graphs = append(b.graphs, graph)
		from = to
	}
	return nil
}

// record puts parts from to to−1 into the stream, with the upload before the first part and the
// download after the last.
func (b *bound) record(d *Device, from, to int) error {
	if from == 0 {
		if err := b.upload(d); err != nil {
			return err
		}
	}
	for _, p := range b.parts[from:to] {
		if err := d.launch(p.launches); err != nil {
			return err
		}
	}
	if to < len(b.parts) {
		return nil
	}
	return b.download(d)
}

func (b *bound) upload(d *Device) error { return d.ctx.Upload(b.block, b.up) }

func (b *bound) download(d *Device) error {
	return d.ctx.Download(b.down, b.block+driver.Ptr(b.bytes-len(b.down)))
}

// put launches the graphs, one after another. After an error it waits for those that were launched, since the next
// run writes what they read.
func (b *bound) put(d *Device) error {
	for _, g := range b.graphs {
		if err := g.Launch(); err != nil {
			d.failed(d.ctx.Synchronize())
			return d.failed(err)
		}
	}
	return nil
}

// run launches the graphs and waits for them.
func (b *bound) run(d *Device) error {
	if err := b.put(d); err != nil {
		return err
	}
	return d.failed(d.ctx.Synchronize())
}

// launch puts launches into the stream.
func (d *Device) launch(launches []launch) error {
	for _, l := range launches {
		if err := d.ctx.Launch(l.function, l.grid, l.block, l.shared, l.args...); err != nil {
			return fmt.Errorf("launch %s: %w", l.function.Name(), err)
		}
	}
	return nil
}
