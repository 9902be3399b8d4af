package plan

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"pgrlab/core/device"
)

// String lists the program's instructions with their shapes, what was fused into them, and what
// each costs. If the device reports it, String also lists, for each instruction, its segment
// between barriers, how its lanes divide the result, and the result whose memory it reuses.
func (p *Program) String() string {
	var text strings.Builder
	flops, bytes := 0, 0
	for _, in := range p.code.Instrs {
		flops += p.code.FLOPs(in)
	}
	for _, b := range p.code.Buffers {
		if b.Host == nil {
			bytes += 4 * b.Len()
		}
	}
	fmt.Fprintf(&text, "%s: %d instructions, %.3f GFLOP", p.Name, len(p.code.Instrs), float64(flops)/1e9)
	outliner, known := p.exec.(device.Outliner)
	var outline device.Outline
	if known {
		outline = outliner.Outline()
		fmt.Fprintf(&text, ", %d segments, %.2f MB for results of %.2f MB", outline.Segments, float64(outline.Own)/1e6, float64(bytes)/1e6)
	}
	text.WriteByte('\n')
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	for i, in := range p.code.Instrs {
		segment, lanes, memory := "", "", ""
		with, elsewhere := p.fused(outline.Into, i)
		switch {
		case elsewhere:
			segment = with
		case known:
			segment, lanes = fmt.Sprint("segment ", outline.Segment[i]), "by "+outline.Lanes[i]
			if owner := outline.Owner[in.Out]; owner != in.Out {
				memory = "in the memory of " + p.name(owner)
			}
		}
		if !elsewhere && with != "" {
			lanes += with
		}
		p.line(w, i, in, segment, lanes, memory)
	}
	p.state(w)
	w.Flush()
	return text.String()
}

// fused says what the device made of instruction i: either the instruction that does its work, or
// what i does besides its own work.
func (p *Program) fused(into []int, i int) (what string, elsewhere bool) {
	for at, by := range into {
		switch {
		case at == i && by != i:
			return fmt.Sprint("in step ", by), true
		case at != i && by == i:
			what += fmt.Sprintf(", with %v of step %d", p.code.Instrs[at].Code, at)
		}
	}
	return what, false
}

// line writes one instruction.
func (p *Program) line(w io.Writer, i int, in device.Instr, segment, lanes, memory string) {
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
		fused = "+ relu mask of " + p.name(in.Mask)
	}
	fmt.Fprintf(w, "%3d\t%v\t%s\t%s\t← %s\t%d FLOP\t%d B\t%s\t%s\t%s\n",
		i, in.Code, fused, p.describe(in.Out), strings.Join(operands, ", "), p.code.FLOPs(in), bytes, segment, lanes, memory)
}

// state writes what changes at the end of a run.
func (p *Program) state(w io.Writer) {
	if a := p.code.Adam; a != nil {
		clip := ""
		if a.ClipNorm > 0 {
			clip = fmt.Sprintf("+ clip at %g", a.ClipNorm)
		}
		if a.ClipTensor > 0 {
			clip += fmt.Sprintf("+ clip of tensors at %g", a.ClipTensor)
		}
		fmt.Fprintf(w, "\t%v\t%s\t%d tensors\n", a.Rule, clip, len(a.Params))
	}
	for _, m := range p.code.Lerps {
		what := "average"
		if m.Rate == device.None {
			what = "move"
		}
		fmt.Fprintf(w, "\t%s\t\t%s\t← %s\n", what, p.describe(m.Dst), p.describe(m.Src))
	}
}

// name returns the name of a buffer: its tensor's name, or a number.
func (p *Program) name(r device.Ref) string {
	if b := p.code.Buffers[r]; b.Name != "" {
		return b.Name
	}
	return fmt.Sprintf("b%d", r)
}

func (p *Program) describe(r device.Ref) string {
	b := p.code.Buffers[r]
	return fmt.Sprintf("%s[%d,%d,%d]", p.name(r), b.Members, b.Rows, b.Cols)
}
