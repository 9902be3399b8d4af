package kernel

import "pgrlab/core/device"

func init() {
	lowerings[device.Gather] = gather
	lowerings[device.GatherGrad] = gatherGrad
}

// table returns the geometry of a table and its picks: members and rows of the table, picks of each
// member, columns.
func (b *builder) table() []any {
	members, rows, cols := b.shape(b.in.In[0])
	_, picks, _ := b.shape(b.in.In[1])
	return []any{uint32(members), uint32(rows), uint32(picks), uint32(cols)}
}

func gather(b *builder) error {
	return b.counted("gather", b.size(b.in.Out), b.operands(), b.table()...)
}

// gatherWork bounds the number of indices that a launch of gather_grad examines, so that no launch
// is long: each pick examines all picks of its table.
const gatherWork = 1 << 28

func gatherGrad(b *builder) error {
	n := b.size(b.in.Out)
	if _, err := index(max(n, b.size(b.in.In[2]))); err != nil {
		return err
	}
	b.elements("zero", n, at(b.in.Out, 0), int64(n))
	if n == 0 {
		return nil
	}
	total := b.size(b.in.In[1])
	step := max(1, gatherWork/max(1, total))
	for from := 0; from < total; from += step {
		args := append([]any{at(b.in.Out, 0), at(b.in.In[1], 0), at(b.in.In[2], 0)}, b.table()...)
		b.launch("gather_grad", [3]uint32{uint32(min(step, total-from)), 1, 1}, 128, 0, append(args, uint32(total), uint32(from))...)
	}
	return nil
}
