package plan

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"pgrlab/core/device"
)

// String lists the program's instructions with their shapes, what was fused into
// them, and what each costs.
func (p *Program) String() string {
	var text strings.Builder
	flops := 0
	for _, in := range p.code.Instrs {
		flops += p.code.FLOPs(in)
	}
	fmt.Fprintf(&text, "%s: %d instructions, %.3f GFLOP\n", p.Name, len(p.code.Instrs), float64(flops)/1e9)
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	for i, in := range p.code.Instrs {
		bytes := 4 * p.code.Buffers[in.Out].Len()
		var operands []string
		for _, r := range in.In {
			operands = append(operands, p.describe(r))
			bytes += 4 * p.code.Buffers[r].Len()
		}
		fused := ""
		if in.ReLU {
			fused = "+ relu"
		}
		if in.Mask != device.None {
			fused = "+ relu mask"
		}
		fmt.Fprintf(w, "%3d\t%v\t%s\t%s\t← %s\t%d FLOP\t%d B\n", i, in.Code, fused, p.describe(in.Out), strings.Join(operands, ", "), p.code.FLOPs(in), bytes)
	}
	if a := p.code.Adam; a != nil {
		fmt.Fprintf(w, "\tadam\t\t%d tensors\t\t\t\n", len(a.Params))
	}
	for _, m := range p.code.Lerps {
		fmt.Fprintf(w, "\taverage\t\t%s\t← %s\t\t\n", p.describe(m.Dst), p.describe(m.Src))
	}
	w.Flush()
	return text.String()
}

func (p *Program) describe(r device.Ref) string {
	b := p.code.Buffers[r]
	name := fmt.Sprintf("b%d", r)
	if b.Name != "" {
		name = b.Name
	}
	return fmt.Sprintf("%s[%d,%d,%d]", name, b.Members, b.Rows, b.Cols)
}
