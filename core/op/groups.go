package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// GroupSoftmax makes a distribution of each group of adjacent columns of x [B,G·classes] or
// [N,B,G·classes]: (1−mix)·softmax + mix/classes, with mix from 0 to below 1. It is DreamerV3's
// latent state with its share of a uniform distribution (Hafner et al. 2025, Nature;
// danijar/dreamerv3 embodied/jax/outs.py Categorical).
func (g *Graph) GroupSoftmax(x *Node, classes int, mix float64) *Node {
	return g.apply(GroupSoftmax, Attr{F: [3]float64{mix}, I: [2]int{classes}}, x)
}

// GroupSample draws one class in each group of adjacent columns of p [B,G·classes], which hold
// probabilities: the first class at which the sum of the probabilities so far exceeds u. u [B,G] is
// uniform in [0,1); both may have members. Where rounding leaves the whole sum at u or below, it is
// the last class of positive probability. The result has ones there and zeros elsewhere; a group
// with a number that is not finite becomes NaN. GroupSample has no derivative: for the
// straight-through gradient of DreamerV3 (danijar/dreamerv3 embodied/jax/outs.py OneHot) add p −
// StopGradient(p).
//
// The sums are in float32, from left to right, so that every implementation draws the same class.
func (g *Graph) GroupSample(p, u *Node, classes int) *Node {
	return g.apply(GroupSample, Attr{I: [2]int{classes}}, p, u)
}

func init() {
	rules[GroupSoftmax] = rule{name: "GroupSoftmax", wrt: []bool{true},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if !(a.F[0] >= 0 && a.F[0] < 1) {
				return nil, errors.New("the mix must be at least 0 and below 1")
			}
			return in[0].Clone(), grouped(a.I[0], in[0])
		}, do32: groupSoftmax[float32], do64: groupSoftmax[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(GroupSoftmaxGrad, d.attr, d.out, d.dout)}
		}}
	rules[GroupSoftmaxGrad] = rule{name: "GroupSoftmaxGrad", shape: first, do32: groupSoftmaxGrad[float32], do64: groupSoftmaxGrad[float64]}
	rules[GroupSample] = rule{name: "GroupSample", wrt: []bool{false, false},
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			if err := grouped(a.I[0], in[0]); err != nil {
				return nil, err
			}
			if cols := in[0][len(in[0])-1]; !in[1].Eq(withColumns(in[0], cols/a.I[0])) {
				return nil, errors.New("u must have a number for each group")
			}
			return in[0].Clone(), nil
		}, do32: groupSample[float32], do64: groupSample[float64]}
}

// grouped checks that the columns of s are groups of classes.
func grouped(classes int, s tensor.Shape) error {
	if matrix(s) != nil || classes < 1 || s[len(s)-1]%classes != 0 {
		return errors.New("want [B,C] or [N,B,C] with columns in groups of that many classes")
	}
	return nil
}

func groupSoftmax[T float](c call[T]) {
	k := c.a.I[0]
	rest, share := 1-c.a.F[0], c.a.F[0]/float64(k)
	for at := 0; at < len(c.out); at += k {
		group := c.in[0][at : at+k]
		lse := logSum(group)
		for j, x := range group {
			c.out[at+j] = T(rest*math.Exp(float64(x)-lse) + share)
		}
	}
}

// groupSoftmaxGrad is q(dy − Σ q·dy/(1−mix)) with q = y − mix/classes, the softmax times 1−mix.
func groupSoftmaxGrad[T float](c call[T]) {
	k := c.a.I[0]
	rest, share := 1-c.a.F[0], c.a.F[0]/float64(k)
	for at := 0; at < len(c.out); at += k {
		y, dy := c.in[0][at:at+k], c.in[1][at:at+k]
		along := 0.0
		for j := range y {
			along += (float64(y[j]) - share) * float64(dy[j])
		}
		for j := range y {
			c.out[at+j] = T((float64(y[j]) - share) * (float64(dy[j]) - along/rest))
		}
	}
}

func groupSample[T float](c call[T]) {
	k := c.a.I[0]
	for i, v := range c.in[1] {
		p, out, u := c.in[0][i*k:(i+1)*k], c.out[i*k:(i+1)*k], float32(v)
		sum, class, last := float32(0), -1, k-1
		for j, x := range p {
			sum += float32(x)
			if x > 0 {
				last = j
			}
			if class < 0 && u < sum {
				class = j
			}
		}
		if wrong := (sum - sum) + (u - u); wrong != 0 { // NaN
			for j := range out {
				out[j] = T(wrong)
			}
			continue
		}
		if class < 0 {
			class = last
		}
		out[class] = 1
	}
}
