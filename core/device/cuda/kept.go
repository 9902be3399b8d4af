package cuda

import (
	"errors"
	"slices"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// kept is a weight that is laid out for products. All programs that want one tensor in one layout
// share it.
type kept struct {
	key   keptKey
	of    *device.Resident[driver.Ptr] // nil: the host's memory, which is uploaded before each run
	at    driver.Ptr
	bytes int
	users int
	// fresh says that it was laid out when of had been written that many times, as.
	fresh bool
	as    uint64
}

// keptKey identifies a kept: the weight's memory in the host, and kernel.Kept.Layout.
type keptKey struct {
	weight *float32
	layout string
}

// laying is the launches that lay a weight out.
type laying struct {
	kept     *kept
	launches []launch
}

// lasts reports whether the weight need not be laid out in each run.
func (k *kept) lasts() bool { return k.of != nil }

// outlasts returns lasts for the programs of a sequence, some of which may write the weight between the runs of others.
func outlasts(programs []*executable) func(*kept) bool {
	written := map[*float32]bool{}
	for _, x := range programs {
		for _, r := range x.written {
			written[&x.program.Buffers[r].Host[0]] = true
		}
	}
	return func(k *kept) bool { return k.lasts() && !written[k.key.weight] }
}

func addresses(all []*kept) []driver.Ptr {
	var at []driver.Ptr
	for _, k := range all {
		at = append(at, k.at)
	}
	return at
}

// keep takes the memory of all that the program's steps keep.
func (x *executable) keep() error {
	x.kept = make([][]*kept, len(x.steps))
	for i, s := range x.steps {
		for _, of := range s.recipe.Kept {
			k, err := x.device.keep(keptKey{&x.program.Buffers[of.Of].Host[0], of.Layout}, of, x.held[of.Of])
			if err != nil {
				return err
			}
			x.kept[i] = append(x.kept[i], k)
		}
	}
	return nil
}

func (d *Device) keep(key keptKey, of kernel.Kept, resident *device.Resident[driver.Ptr]) (*kept, error) {
	k := d.kept[key]
	if k == nil {
		k = &kept{key: key, bytes: scratchBytes(of.Elements)}
		var err error
		if k.at, err = d.alloc(&d.used.Tensors, k.bytes); err != nil {
			return nil, err
		}
		d.kept[key] = k
	}
	if k.of != resident { // it has begun to be held, or is held again
		k.of, k.fresh = resident, false
	}
	k.users++
	return k, nil
}

// leave gives back what keep took.
func (x *executable) leave() (err error) {
	for _, k := range slices.Concat(x.kept...) {
		if k.users--; k.users == 0 {
			delete(x.device.kept, k.key)
			err = errors.Join(err, x.device.free(&x.device.used.Tensors, k.at, k.bytes))
		}
	}
	x.kept, x.stale = nil, nil
	return err
}

// refresh lays out the weights that have changed, before a run of a program or of a sequence.
func (d *Device) refresh(stale []laying) error {
	for _, l := range stale {
		k := l.kept
		if k.fresh && k.as == k.of.Writes {
			continue
		}
		if err := d.launch(l.launches); err != nil {
			return d.failed(err)
		}
		k.fresh, k.as = true, k.of.Writes
	}
	return nil
}

// forget is called after a sequence, which lays weights that do not last out as they are in its middle.
func (x *executable) forget(lasts func(*kept) bool) {
	for _, k := range slices.Concat(x.kept...) {
		if !lasts(k) {
			k.fresh = false
		}
	}
}
