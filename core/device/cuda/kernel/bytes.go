package kernel

import "pgrlab/core/device"

func init() { lowerings[device.FromBytes] = fromBytes }

// fromBytes has a thread for each word.
func fromBytes(b *builder) error {
	_, _, words := b.shape(b.in.In[0])
	_, _, cols := b.shape(b.in.Out)
	return b.counted("from_bytes", b.size(b.in.In[0]), b.operands(), float32(b.in.F[0]), uint32(words), uint32(cols))
}
