package kernel

import "pgrlab/core/device"

func init() {
	mix := func(b *builder) []any { return []any{b.in.F[0]} }
	lowerings[device.GroupSoftmax] = ofGroups("group_softmax", mix)
	lowerings[device.GroupSoftmaxGrad] = ofGroups("group_softmax_grad", mix)
	lowerings[device.GroupSample] = ofGroups("group_sample", func(*builder) []any { return nil })
	lowerings[device.TwoHotAt] = func(b *builder) error {
		return b.counted("two_hot_at", b.size(b.in.Out), b.operands(), uint32(b.size(b.in.In[1])))
	}
	lowerings[device.GatedUpdate] = gated("gated_update", func(b *builder) device.Ref { return b.in.Out })
	lowerings[device.GatedUpdateGrad] = gated("gated_update_grad", func(b *builder) device.Ref { return b.in.In[1] })
	lowerings[device.GatedUpdateKeep] = gated("gated_update_keep", func(b *builder) device.Ref { return b.in.Out })
	lowerings[device.BinMean] = ofRows("bin_mean", func(device.Instr) []any { return nil })
}

// gated is the recipe of a kernel with a thread for each element of a state.
func gated(kernel string, state func(b *builder) device.Ref) lowering {
	return func(b *builder) error {
		if _, err := index(b.size(b.in.In[0])); err != nil {
			return err
		}
		_, _, cols := b.shape(state(b))
		return b.counted(kernel, b.size(state(b)), b.operands(), uint32(cols))
	}
}

// ofGroups is the recipe of a kernel with a thread for each group of columns.
func ofGroups(kernel string, constants func(b *builder) []any) lowering {
	return func(b *builder) error {
		if _, err := index(b.size(b.in.Out)); err != nil {
			return err
		}
		classes := b.in.I[0]
		return b.counted(kernel, b.size(b.in.Out)/classes, b.operands(), append(constants(b), uint32(classes))...)
	}
}
