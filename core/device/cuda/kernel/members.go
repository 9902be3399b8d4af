package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.SumMembers] = func(b *builder) error { return b.sumMembers(func(int) float32 { return 1 }) }
	lowerings[device.MeanMembers] = func(b *builder) error { return b.sumMembers(func(n int) float32 { return float32(n) }) }
	lowerings[device.MinMembers] = func(b *builder) error {
		n := b.size(b.in.Out)
		members, _, _ := b.shape(b.in.In[0])
		subset, count := b.subset(2)
		return b.counted("min_members", n, []any{at(b.in.Out, 0), at(b.in.In[0], 0), subset}, uint32(members), count)
	}
	lowerings[device.MinMembersGrad] = func(b *builder) error {
		last := len(b.in.In) - 1
		n := b.size(b.in.In[last])
		members, _, _ := b.shape(b.in.In[0])
		subset, count := b.subset(4)
		args := []any{at(b.in.Out, 0), at(b.in.In[0], 0), subset, at(b.in.In[last-1], 0), at(b.in.In[last], 0)}
		return b.counted("min_members_grad", n, args, uint32(members), count)
	}
}

// sumMembers sums what stands one behind the other, divided by a function of how
// many there are: members, or the rows of an operand without members.
func (b *builder) sumMembers(divisor func(members int) float32) error {
	n := b.size(b.in.Out)
	if n == 0 {
		return nil
	}
	members := b.size(b.in.In[0]) / n
	return b.counted("sum_members", n, b.operands(), uint32(members), divisor(members))
}

// subset is operand 1, which names members, if the instruction has n operands, and
// how many members count.
func (b *builder) subset(n int) (indices any, count uint32) {
	if len(b.in.In) == n {
		return at(b.in.In[1], 0), uint32(b.size(b.in.In[1]))
	}
	members, _, _ := b.shape(b.in.In[0])
	return uint64(0), uint32(members)
}
