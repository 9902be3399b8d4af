package ptx

import (
	"encoding/binary"
	"math/bits"
)

// The loads and stores of one 32-bit word, to global and to shared memory. Unusual
// cases take the general path.

func loadGlobal32(w *warp, in *inst, at uint32) error {
	if w.block.watched {
		return load(w, in, at)
	}
	a, d, c := w.at(in.a), &w.regs[in.outs[0]], w.sites[in.mem.site]
	base, data := c.base, c.data
	for m := at; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		p := a[i] + in.mem.off
		off := p - base
		if off > uint64(len(data)) || off+4 > uint64(len(data)) || p&3 != 0 {
			if _, err := w.reach(in, &in.mem, i, p, 4, reads); err != nil {
				return err
			}
			c = w.sites[in.mem.site]
			base, data, off = c.base, c.data, p-c.base
		}
		d[i] = uint64(binary.LittleEndian.Uint32(data[off:]))
	}
	return nil
}

func storeGlobal32(w *warp, in *inst, at uint32) error {
	a, v, c := w.at(in.a), w.at(in.ins[0]), w.sites[in.mem.site]
	if w.block.watched || c.written != nil {
		return store(w, in, at)
	}
	base, data := c.base, c.data
	for m := at; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		p := a[i] + in.mem.off
		off := p - base
		if off > uint64(len(data)) || off+4 > uint64(len(data)) || p&3 != 0 {
			if _, err := w.reach(in, &in.mem, i, p, 4, writes); err != nil {
				return err
			}
			c = w.sites[in.mem.site]
			base, data, off = c.base, c.data, p-c.base
		}
		binary.LittleEndian.PutUint32(data[off:], uint32(v[i]))
	}
	return nil
}

func loadShared32(w *warp, in *inst, at uint32) error {
	a, d, data, s := w.at(in.a), &w.regs[in.outs[0]], w.block.shared, w.block.shadow
	if s != nil && s.granule != 4 {
		return load(w, in, at)
	}
	for m := at; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		p := a[i] + in.mem.off
		if p > uint64(len(data)) || p+4 > uint64(len(data)) || p&3 != 0 || s != nil && !s.clean(w, int(p>>2)) {
			if _, err := w.reach(in, &in.mem, i, p, 4, reads); err != nil {
				return err
			}
		}
		d[i] = uint64(binary.LittleEndian.Uint32(data[p:]))
	}
	return nil
}

func storeShared32(w *warp, in *inst, at uint32) error {
	if w.block.watched {
		return store(w, in, at)
	}
	a, v, data := w.at(in.a), w.at(in.ins[0]), w.block.shared
	for m := at; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		p := a[i] + in.mem.off
		if p > uint64(len(data)) || p+4 > uint64(len(data)) || p&3 != 0 {
			_, err := w.reach(in, &in.mem, i, p, 4, writes)
			return err
		}
		binary.LittleEndian.PutUint32(data[p:], uint32(v[i]))
	}
	return nil
}
