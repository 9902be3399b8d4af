package op

import (
	"math/rand/v2"
	"testing"

	"pgrlab/core/window"

	"gorgonia.org/tensor"
)

// arities are the operations of which graphs are built, with their smallest and largest number of
// operands. The other operations are gradients, whose operands fit by construction.
var arities = map[Kind][2]int{
	Linear: {3, 3}, LinearAt: {4, 4}, ReLU: {1, 1}, Tanh: {1, 1}, SiLU: {1, 1}, Mish: {1, 1}, ELU: {1, 1},
	Add: {2, 2}, Sub: {2, 2}, Mul: {2, 2}, Scale: {1, 1}, RowScale: {2, 2}, Concat: {1, 3}, Slice: {1, 1}, StopGradient: {1, 1},
	TanhGaussian: {2, 2}, MinMembers: {1, 1}, MeanMembers: {1, 1}, TDTarget: {6, 6}, SquaredError: {2, 2},
	WeightedSquaredError: {3, 3}, EntropyLoss: {3, 3}, AddScalars: {2, 2}, BatchStats: {1, 1}, BatchNorm: {4, 4},
	BatchNormEval: {4, 4}, Fourier: {2, 2}, EDMNoised: {4, 4}, RowMeanSquare: {2, 2}, Exp: {1, 1}, Log: {1, 1},
	Square: {1, 1}, Sqrt: {1, 1}, Softplus: {1, 1}, Sigmoid: {1, 1}, SignedSqrt: {1, 1},
	Clamp: {1, 1}, Minimum: {2, 2}, Maximum: {2, 2}, Div: {2, 2}, ColScale: {2, 2}, ColAdd: {2, 2}, AddColumns: {2, 2},
	Members: {1, 1}, SumMembers: {1, 1}, SumColumns: {1, 1}, SpreadColumns: {1, 1}, Sum: {1, 1}, BCE: {2, 3},
	CrossEntropy: {2, 3}, GaussianKL: {1, 1}, Gather: {2, 2}, LayerNorm: {3, 3}, LogSumExp: {1, 1},
	Softmax: {1, 1}, TwoHotAt: {2, 2}, BinMean: {2, 2}, Conv: {3, 3}, MaxPool: {1, 1}, Upsample: {1, 1}, FromBytes: {1, 1},
	Shift: {1, 1}, SplitColumns: {1, 1}, JoinMembers: {1, 1}, RMSNorm: {2, 2}, GroupSoftmax: {1, 1}, GroupSample: {2, 2}, GatedUpdate: {2, 2},
}

// Whatever shapes an operation is given, its rule answers with a shape or an error; operands that
// it accepts can be computed by the reference.
func TestAnyShapesAreAnsweredOrRefused(t *testing.T) {
	for kind, operands := range arities {
		t.Run(kind.String(), func(t *testing.T) {
			r, passed := rand.New(rand.NewPCG(1, uint64(kind))), 0
			for tries := 0; tries < 60000 && passed < 500; tries++ {
				shapes := shapesFor(r, operands[0]+r.IntN(operands[1]-operands[0]+1))
				a := Attr{F: [3]float64{1, 2, 1}, I: [2]int{r.IntN(3), r.IntN(4)}}
				switch kind {
				case Concat:
					a.I = [2]int{len(shapes)}
				case GroupSoftmax:
					a.F[0] = 0.25
				case Conv, MaxPool, Upsample:
					a.Window = window.Geometry{Height: r.IntN(4), Width: 1 + r.IntN(2), Channels: 1 + r.IntN(3), Kernel: r.IntN(4), Stride: r.IntN(3), Pad: r.IntN(3)}
					if r.IntN(4) == 0 { // otherwise hardly any would fit
						shapes[0] = tensor.Shape{r.IntN(3), a.Window.Size()}
						if kind == Conv {
							shapes[1] = tensor.Shape{a.Window.Patch(), 1 + r.IntN(3)}
							shapes[2] = tensor.Shape{shapes[1][1]}
						}
					}
				}
				out, err := rules[kind].shape(a, shapes)
				if err != nil {
					continue
				}
				passed++
				c := call[float32]{a: a, out: make([]float32, out.TotalSize()), shape: out, ins: shapes}
				for _, s := range shapes {
					c.in = append(c.in, make([]float32, s.TotalSize()))
				}
				if out.IsScalar() {
					c.out = make([]float32, 1)
				}
				rules[kind].do32(c)
			}
			if passed < 10 {
				t.Errorf("only %d random shapes fit", passed)
			}
		})
	}
	for kind, rule := range rules {
		if _, ok := arities[Kind(kind)]; !ok && rule.grad != nil {
			t.Errorf("%v has a derivative and is not in the list", Kind(kind))
		}
	}
}

// shapesFor returns n random shapes that often have something in common.
func shapesFor(r *rand.Rand, n int) []tensor.Shape {
	sizes := []int{1, 2, 3}
	first := make(tensor.Shape, r.IntN(4))
	for i := range first {
		first[i] = sizes[r.IntN(3)]
	}
	shapes := make([]tensor.Shape, n)
	for k := range shapes {
		s := first.Clone()
		switch r.IntN(8) {
		case 0: // one column
			if len(s) > 0 {
				s[len(s)-1] = 1
			}
		case 1: // without rows, as biases are
			if len(s) > 1 {
				s = append(s[:len(s)-2], s[len(s)-1])
			}
		case 2: // of three rows, as statistics have
			if len(s) > 1 {
				s[len(s)-2] = 3
			}
		case 3: // a live scalar
			s = tensor.Shape{1}
		case 4:
			s = make(tensor.Shape, r.IntN(5))
			for i := range s {
				s[i] = sizes[r.IntN(3)]
			}
		}
		shapes[k] = s
	}
	return shapes
}
