package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.Nop] = func(*builder) error { return nil }
	lowerings[device.Add] = func(b *builder) error {
		n := b.size(b.in.Out)
		b.elements("add", n, at(b.in.Out, 0), at(b.in.In[0], 0), at(b.in.In[1], 0), int64(n))
		return nil
	}
}
