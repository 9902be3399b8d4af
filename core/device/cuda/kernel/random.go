package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.FillNormal] = fill("fill_normal")
	lowerings[device.FillUniform] = fill("fill_uniform")
	lowerings[device.Fourier] = func(b *builder) error {
		return b.counted("fourier", b.size(b.in.Out), b.operands(), uint32(b.size(b.in.In[1])))
	}
	lowerings[device.EDMNoised] = func(b *builder) error {
		_, _, d := b.shape(b.in.In[0])
		return b.counted("edm_noised", b.size(b.in.Out), b.operands(), b.in.F[0], b.in.F[1], uint32(d))
	}
}

// fill writes random numbers by their position; each thread writes four of them.
func fill(kernel string) lowering {
	return func(b *builder) error {
		n := b.size(b.in.Out)
		if n == 0 {
			return nil
		}
		live := any(uint64(0))
		if b.in.Items != nil {
			live = Live{Items: b.in.Items}
		}
		key := b.in.Fill.Key
		b.elements(kernel, n/4+1, at(b.in.Out, 0), Occasion{}, live, key[0], key[1], int64(n))
		return nil
	}
}
