package policy

import (
	"math"
	"testing"
)

// apply is an operation of ONNX as its documentation defines it (onnx/onnx: docs/Operators.md, opset 13).
func (n onnxNode) apply(t *testing.T, from []tensor) tensor {
	t.Helper()
	x := from[0]
	switch n.op {
	case "Cast", "Identity":
		return x
	case "Relu":
		return x.each(func(v float64) float64 { return max(v, 0) })
	case "Tanh":
		return x.each(math.Tanh)
	case "Sqrt":
		return x.each(math.Sqrt)
	case "Add":
		return x.with(t, from[1], func(a, b float64) float64 { return a + b })
	case "Sub":
		return x.with(t, from[1], func(a, b float64) float64 { return a - b })
	case "Mul":
		return x.with(t, from[1], func(a, b float64) float64 { return a * b })
	case "Div":
		return x.with(t, from[1], func(a, b float64) float64 { return a / b })
	case "Flatten":
		return tensor{[]int{x.shape[0], len(x.data) / x.shape[0]}, x.data}
	case "Gemm":
		return gemm(t, x, from[1], from[2])
	case "ReduceMean":
		return meanOfRows(x)
	case "ArgMax":
		return largest(x)
	case "Conv":
		return conv(x, from[1], from[2], n.ints["strides"])
	case "Transpose":
		return transposed(x, n.ints["perm"])
	}
	t.Fatalf("no operation %s", n.op)
	return tensor{}
}

func (x tensor) each(f func(float64) float64) tensor {
	y := tensor{x.shape, make([]float64, len(x.data))}
	for i, v := range x.data {
		y.data[i] = f(v)
	}
	return y
}

// with broadcasts: y is a number, a row, or a column of the rows of x.
func (x tensor) with(t *testing.T, y tensor, f func(a, b float64) float64) tensor {
	t.Helper()
	z := tensor{x.shape, make([]float64, len(x.data))}
	width := x.shape[len(x.shape)-1]
	for i, v := range x.data {
		at := 0
		switch len(y.data) {
		case 1:
		case len(x.data):
			at = i
		case width:
			at = i % width
		case len(x.data) / width:
			at = i / width
		default:
			t.Fatalf("%v does not go with %v", y.shape, x.shape)
		}
		z.data[i] = f(v, y.data[at])
	}
	return z
}

func gemm(t *testing.T, x, w, b tensor) tensor {
	t.Helper()
	rows, in, out := x.shape[0], w.shape[0], w.shape[1]
	if x.shape[1] != in || len(b.data) != out {
		t.Fatalf("%v · %v + %v", x.shape, w.shape, b.shape)
	}
	y := tensor{[]int{rows, out}, make([]float64, rows*out)}
	for r := range rows {
		for o := range out {
			sum := b.data[o]
			for i := range in {
				sum += x.data[r*in+i] * w.data[i*out+o]
			}
			y.data[r*out+o] = sum
		}
	}
	return y
}

func meanOfRows(x tensor) tensor {
	y := tensor{shape: []int{x.shape[0], 1}}
	for width := x.shape[1]; len(y.data) < x.shape[0]; {
		sum := 0.0
		for _, v := range x.data[len(y.data)*width:][:width] {
			sum += v
		}
		y.data = append(y.data, sum/float64(width))
	}
	return y
}

func largest(x tensor) tensor {
	y := tensor{shape: x.shape[:1]}
	for r := range x.shape[0] {
		best, row := 0, x.data[r*x.shape[1]:][:x.shape[1]]
		for i, v := range row {
			if v > row[best] {
				best = i
			}
		}
		y.data = append(y.data, float64(best))
	}
	return y
}

// conv is a convolution [N,C,H,W] without padding.
func conv(x, w, b tensor, strides []int) tensor {
	n, c, height, width := x.shape[0], x.shape[1], x.shape[2], x.shape[3]
	out, kh, kw := w.shape[0], w.shape[2], w.shape[3]
	oh, ow := (height-kh)/strides[0]+1, (width-kw)/strides[1]+1
	y := tensor{shape: []int{n, out, oh, ow}}
	for i := range n {
		for o := range out {
			for r := range oh {
				for q := range ow {
					sum := b.data[o]
					for k := range c {
						for dy := range kh {
							for dx := range kw {
								sum += x.data[((i*c+k)*height+r*strides[0]+dy)*width+q*strides[1]+dx] * w.data[((o*c+k)*kh+dy)*kw+dx]
							}
						}
					}
					y.data = append(y.data, sum)
				}
			}
		}
	}
	return y
}

// transposed permutes four dimensions.
func transposed(x tensor, perm []int) tensor {
	s := x.shape
	y := tensor{shape: []int{s[perm[0]], s[perm[1]], s[perm[2]], s[perm[3]]}}
	var at [4]int
	for at[perm[0]] = range s[perm[0]] {
		for at[perm[1]] = range s[perm[1]] {
			for at[perm[2]] = range s[perm[2]] {
				for at[perm[3]] = range s[perm[3]] {
					y.data = append(y.data, x.data[((at[0]*s[1]+at[1])*s[2]+at[2])*s[3]+at[3]])
				}
			}
		}
	}
	return y
}
