package dry

import (
	"strings"

	"pgrlab/core/device"
	"pgrlab/core/device/cuda/kernel"
)

// Work is what a run of a program takes.
type Work struct {
	Launches int     // without those that lay out weights that the program only reads
	FLOPs    float64 // floating-point operations
	Bytes    float64 // that kernels read and write, as doc.go counts them
	Seconds  float64 // by the model
}

// Rates are the constants of the model, of an H100.
var Rates = struct {
	Launch           float64 // seconds
	FP32, TF32, BF16 float64 // floating-point operations in a second
	Bytes            float64 // in a second
}{Launch: 3.6e-6, FP32: 30e12, TF32: 330e12, BF16: 560e12, Bytes: 2.6e12}

// workOf lowers a program and adds up its parts.
func workOf(p *device.Program, t kernel.Target) (w Work, err error) {
	p, _ = kernel.Arrange(kernel.Merge(p, t).Program, t)
	segments, err := kernel.Segments(p, t)
	if err != nil {
		return w, err
	}
	end, err := kernel.Finish(p, t)
	if err != nil {
		return w, err
	}
	for _, s := range segments {
		flops := 0.0
		for _, in := range p.Instrs[s.First : s.Last+1] {
			flops += float64(p.FLOPs(in))
		}
		w.add(p, s.Recipe, flops, s.Stacks...)
	}
	w.add(p, end, 0)
	return w, nil
}

// add adds a recipe with its arithmetic.
func (w *Work) add(p *device.Program, r kernel.Recipe, flops float64, stacks ...[]device.Ref) {
	bytes, rate := 0.0, Rates.FP32
	touched := operands{p, r, map[touch]bool{}, map[device.Ref]int{}}
	for _, all := range stacks {
		touched.stacked[all[0]] = len(all)
	}
	for _, l := range r.Launches {
		bytes += 4 * touched.elements(l)
		switch {
		case strings.Contains(l.Kernel, "TF32_"):
			rate = Rates.TF32
		case strings.Contains(l.Kernel, "BF16_"):
			rate = Rates.BF16
		}
	}
	w.Launches += len(r.Launches)
	w.FLOPs += flops
	w.Bytes += bytes
	w.Seconds += seconds(len(r.Launches), flops, rate, bytes)
}

// seconds is the model.
func seconds(launches int, flops, rate, bytes float64) float64 {
	return float64(launches)*Rates.Launch + flops/rate + bytes/Rates.Bytes
}

// operands counts the memory that the launches of a recipe touch. What several launches of one kernel touch
// is divided among them by rows, and counts once.
type operands struct {
	program *device.Program
	recipe  kernel.Recipe
	seen    map[touch]bool
	stacked map[device.Ref]int // how many buffers stand where a recipe names the first one
}

type touch struct {
	kernel  string
	operand kernel.Operand
}

// elements is the number of float32 elements that a launch touches.
func (o operands) elements(l kernel.Launch) (n float64) {
	for _, a := range l.Args {
		n += o.of(l.Kernel, a)
	}
	if steps[l.Kernel] { // of the four numbers of a weight, three are read and written
		n *= 7. / 4
	}
	return n
}

// steps are the kernels that step weights and their moments in place.
var steps = map[string]bool{device.RuleAdam.String(): true, device.RuleLaProp.String(): true}

func (o operands) of(by string, arg any) (n float64) {
	switch a := arg.(type) {
	case kernel.Table:
		for _, word := range a {
			n += o.of(by, word)
		}
	case kernel.Keep:
		n = float64(o.recipe.Kept[a].Elements)
	case kernel.Operand:
		a.Offset = 0
		if t := (touch{by, a}); !o.seen[t] {
			o.seen[t] = true
			if a.Scratch {
				return float64(o.recipe.Scratch[a.Ref])
			}
			return float64(max(1, o.stacked[a.Ref]) * o.program.Buffers[a.Ref].Len())
		}
	}
	return n
}
