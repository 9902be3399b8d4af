package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.SumMembers] = func(b *builder) error { return b.sumMembers(func(int) float32 { return 1 }) }
	lowerings[device.MeanMembers] = func(b *builder) error { return b.sumMembers(func(n int) float32 { return float32(n) }) }
	lowerings[device.MinMembers] = func(b *builder) error {
		members, _, _ := b.shape(b.in.In[0])
		return b.counted("min_members", b.size(b.in.Out), b.operands(), uint32(members))
	}
	lowerings[device.MinMembersGrad] = func(b *builder) error {
		members, _, _ := b.shape(b.in.In[0])
		return b.counted("min_members_grad", b.size(b.in.In[1]), b.operands(), uint32(members))
	}
}

// sumMembers sums consecutive blocks of memory, divided by a function of their number: the blocks
// are members, or the rows of an operand without members.
func (b *builder) sumMembers(divisor func(members int) float32) error {
	n := b.size(b.in.Out)
	if n == 0 {
		return nil
	}
	members := b.size(b.in.In[0]) / n
	return b.counted("sum_members", n, b.operands(), uint32(members), divisor(members))
}
