package op

import (
	"math"

	"gorgonia.org/tensor"
)

// LogSumExp is ln Σ eˣ over the columns of x [B,C] or [N,B,C], as [B,1] or [N,B,1].
func (g *Graph) LogSumExp(x *Node) *Node { return g.apply(LogSumExp, Attr{}, x) }

// Softmax is eˣ/Σeˣ over columns.
func (g *Graph) Softmax(x *Node) *Node { return g.apply(Softmax, Attr{}, x) }

func init() {
	rules[LogSumExp] = rule{name: "LogSumExp", wrt: []bool{true},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			if err := matrix(in[0]); err != nil {
				return nil, err
			}
			return withColumns(in[0], 1), nil
		}, do32: logSumExp[float32], do64: logSumExp[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(LogSumExpGrad, Attr{}, d.in[0], d.out, d.dout)}
		}}
	rules[LogSumExpGrad] = rule{name: "LogSumExpGrad", shape: first, do32: logSumExpGrad[float32], do64: logSumExpGrad[float64]}
	rules[Softmax] = rule{name: "Softmax", wrt: []bool{true},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), matrix(in[0]) },
		do32:  softmax[float32], do64: softmax[float64],
		grad: func(d derivation) []*Node { return []*Node{d.apply(SoftmaxGrad, Attr{}, d.out, d.dout)} }}
	rules[SoftmaxGrad] = rule{name: "SoftmaxGrad", shape: first, do32: softmaxGrad[float32], do64: softmaxGrad[float64]}
}

// logSum is ln Σ eˣ, computed with the largest x factored out.
func logSum[T float](row []T) float64 {
	largest := math.Inf(-1)
	for _, x := range row {
		largest = math.Max(largest, float64(x))
	}
	if math.IsInf(largest, 0) { // all x are −Inf, or one is +Inf
		return largest
	}
	sum := 0.0
	for _, x := range row {
		sum += math.Exp(float64(x) - largest)
	}
	return largest + math.Log(sum)
}

func logSumExp[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	for i := range c.out {
		c.out[i] = T(logSum(c.in[0][i*cols : (i+1)*cols]))
	}
}

func logSumExpGrad[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	for i, x := range c.in[0] {
		c.out[i] = c.in[2][i/cols] * T(math.Exp(float64(x-c.in[1][i/cols])))
	}
}

func softmax[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	for at := 0; at < len(c.out); at += cols {
		row := c.in[0][at : at+cols]
		lse := logSum(row)
		for j, x := range row {
			c.out[at+j] = T(math.Exp(float64(x) - lse))
		}
	}
}

// softmaxGrad is y(dy − Σ y·dy).
func softmaxGrad[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	for at := 0; at < len(c.out); at += cols {
		y, dy := c.in[0][at:at+cols], c.in[1][at:at+cols]
		along := 0.0
		for j := range y {
			along += float64(y[j]) * float64(dy[j])
		}
		for j := range y {
			c.out[at+j] = T(float64(y[j]) * (float64(dy[j]) - along))
		}
	}
}

func crossEntropy[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	sum := 0.0
	for at := 0; at < len(c.in[0]); at += cols {
		row := c.in[0][at : at+cols]
		lse := logSum(row)
		for j, z := range row {
			if t := float64(c.in[1][(at+j)%len(c.in[1])]); t != 0 { // 0·ln 0 is 0
				sum += weight(c, 3, at) * t * (lse - float64(z))
			}
		}
	}
	c.out[0] = T(sum / c.a.F[0])
}

// crossEntropyGrad is w·(softmax(z)·Σt − t)/norm.
func crossEntropyGrad[T float](c call[T]) {
	_, _, cols := dims(c.ins[0])
	dloss := float64(c.in[len(c.in)-1][0])
	for at := 0; at < len(c.in[0]); at += cols {
		row, from := c.in[0][at:at+cols], at%len(c.in[1])
		target := c.in[1][from : from+cols]
		lse, total := logSum(row), 0.0
		for _, t := range target {
			total += float64(t)
		}
		for j, z := range row {
			slope := math.Exp(float64(z)-lse)*total - float64(target[j])
			c.out[at+j] = T(dloss * weight(c, 4, at) * slope / c.a.F[0])
		}
	}
}
