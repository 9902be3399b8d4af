package op

import (
	"errors"
	"math"

	"gorgonia.org/tensor"
)

// The bounds of log σ in the policy (watchernyu/REDQ: redq/algos/core.py), the guard in log(1 − a²
// + guard), and ½ln2π.
const (
	LogStdMin  = -20
	LogStdMax  = 2
	squash     = 1e-6
	halfLog2Pi = 0.91893853320467274178
)

// TanhGaussian samples the policy by reparametrisation. h [B,2A] is [μ | raw log σ] and eps [B,A]
// is standard normal; both may have members. The result [B,A+1] is [a | log π], with log σ clamped
// to [LogStdMin, LogStdMax], u = μ + σ·eps, a = tanh u and log π = Σ N(u; μ, σ) − Σ log(1 − a² +
// 1e-6) (Haarnoja et al. 2018, appendix C).
func (g *Graph) TanhGaussian(h, eps *Node) *Node { return g.apply(TanhGaussian, Attr{}, h, eps) }

// MinMembers is the minimum over the members of q [N,B,C], as [B,C]. The gradient goes to the first
// member that attains the minimum.
func (g *Graph) MinMembers(q *Node) *Node { return g.apply(MinMembers, Attr{}, q) }

// MeanMembers is the mean over the members of q [N,B,1], as [B,1].
func (g *Graph) MeanMembers(q *Node) *Node { return g.apply(MeanMembers, Attr{}, q) }

// TDTarget is the soft Bellman target r + γ(1−d)(q − α·log π). r, d, q and logp have one shape,
// [B,1] or [N,B,1]; gamma and alpha are [1]. Without entropy logp and alpha are nil. It has no
// derivative.
func (g *Graph) TDTarget(r, d, q, logp, gamma, alpha *Node) *Node {
	if logp == nil && alpha == nil {
		logp, alpha = g.zeros("no log π", q.Shape()...), g.zeros("no α", 1)
	}
	return g.apply(TDTarget, Attr{}, r, d, q, logp, gamma, alpha)
}

// zeros returns an input that keeps its zeros. A graph may have several of one name.
func (g *Graph) zeros(name string, shape ...int) *Node {
	for g.names[name] {
		name += "'"
	}
	return g.Input(name, shape...)
}

// EntropyLoss is the actor's loss: the mean over rows of α·log π − q, summed over members if there
// are any. logp and q are [B,1] or [N,B,1]; alpha is [1].
func (g *Graph) EntropyLoss(logp, q, alpha *Node) *Node {
	return g.apply(EntropyLoss, Attr{}, logp, q, alpha)
}

func init() {
	rules[TanhGaussian] = rule{name: "TanhGaussian", wrt: []bool{true, false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			h, eps := in[0], in[1]
			if matrix(h) != nil || matrix(eps) != nil || !withColumns(eps, 2*eps[len(eps)-1]).Eq(h) {
				return nil, errors.New("h must be [B,2A] and eps [B,A], or [N,B,2A] and [N,B,A]")
			}
			return withColumns(eps, eps[len(eps)-1]+1), nil
		},
		do32: tanhGaussian[float32], do64: tanhGaussian[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(TanhGaussianGrad, Attr{}, d.in[0], d.in[1], d.out, d.dout), nil}
		}}
	rules[TanhGaussianGrad] = rule{name: "TanhGaussianGrad", shape: first,
		do32: tanhGaussianGrad[float32], do64: tanhGaussianGrad[float64]}
	rules[MinMembers] = rule{name: "MinMembers", wrt: []bool{true}, shape: overMembers,
		do32: minMembers[float32], do64: minMembers[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(MinMembersGrad, Attr{}, d.in[0], d.out, d.dout)}
		}}
	rules[MinMembersGrad] = rule{name: "MinMembersGrad", shape: first, do32: minMembersGrad[float32], do64: minMembersGrad[float64]}
	rules[MeanMembers] = rule{name: "MeanMembers", wrt: []bool{true}, shape: overMembers,
		do32: meanMembers[float32], do64: meanMembers[float64],
		grad: func(d derivation) []*Node {
			return []*Node{d.apply(BroadcastMembers, Attr{I: [2]int{d.in[0].Shape()[0]}}, d.dout)}
		}}
	rules[BroadcastMembers] = rule{name: "BroadcastMembers",
		shape: func(a Attr, in []tensor.Shape) (tensor.Shape, error) {
			return append(tensor.Shape{a.I[0]}, in[0]...), nil
		}, do32: broadcastMembers[float32], do64: broadcastMembers[float64]}
	rules[TDTarget] = rule{name: "TDTarget",
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			s, err := sameShape(Attr{}, in[:4])
			return s, each(err, rowsOf("r", in[0], in[0]), live("γ", in[4]), live("α", in[5]))
		}, do32: tdTarget[float32], do64: tdTarget[float64]}
	rules[EntropyLoss] = rule{name: "EntropyLoss", wrt: []bool{true, true, false},
		shape: func(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
			_, err := sameShape(Attr{}, in[:2])
			return tensor.ScalarShape(), each(err, rowsOf("log π", in[0], in[0]), live("α", in[2]))
		},
		do32: entropyLoss[float32], do64: entropyLoss[float64],
		grad: func(d derivation) []*Node {
			return []*Node{
				d.apply(EntropyGradLogp, Attr{}, d.in[0], d.in[2], d.dout),
				d.apply(EntropyGradQ, Attr{}, d.in[1], d.dout), nil,
			}
		}}
	rules[EntropyGradLogp] = rule{name: "EntropyGradLogp", shape: first,
		do32: entropyGradLogp[float32], do64: entropyGradLogp[float64]}
	rules[EntropyGradQ] = rule{name: "EntropyGradQ", shape: first, do32: entropyGradQ[float32], do64: entropyGradQ[float64]}
}

func overMembers(_ Attr, in []tensor.Shape) (tensor.Shape, error) {
	if len(in[0]) != 3 {
		return nil, errors.New("want members, [N,B,C]")
	}
	return in[0][1:].Clone(), nil
}

func tanhGaussian[T float](c call[T]) {
	members, rows, n := dims(c.ins[1])
	for i := range members * rows {
		h, eps, out := c.in[0][i*2*n:], c.in[1][i*n:], c.out[i*(n+1):]
		logp := 0.0
		for j := range n {
			e, logStd := float64(eps[j]), min(max(float64(h[n+j]), LogStdMin), LogStdMax)
			a := math.Tanh(float64(h[j]) + math.Exp(logStd)*e)
			out[j] = T(a)
			logp += -e*e/2 - logStd - halfLog2Pi - math.Log(1-a*a+squash)
		}
		out[n] = T(logp)
	}
}

// tanhGaussianGrad is the gradient with respect to h: through u = μ + σ·eps with
// ∂a/∂u = 1−a² and ∂log π/∂u = 2a(1−a²)/(1−a²+1e-6), and directly −1 for log σ.
func tanhGaussianGrad[T float](c call[T]) {
	members, rows, n := dims(c.ins[1])
	for i := range members * rows {
		h, eps, out, dout, dh := c.in[0][i*2*n:], c.in[1][i*n:], c.in[2][i*(n+1):], c.in[3][i*(n+1):], c.out[i*2*n:]
		dlogp := float64(dout[n])
		for j := range n {
			a, raw := float64(out[j]), float64(h[n+j])
			slope := 1 - a*a
			du := float64(dout[j])*slope + dlogp*2*a*slope/(slope+squash)
			dh[j] = T(du)
			if raw >= LogStdMin && raw <= LogStdMax {
				dh[n+j] = T(du*math.Exp(raw)*float64(eps[j]) - dlogp)
			}
		}
	}
}

func minMembers[T float](c call[T]) {
	n, members := len(c.out), c.ins[0][0]
	for i := range c.out {
		c.out[i] = T(math.Inf(1))
		for e := range members {
			c.out[i] = min(c.out[i], c.in[0][e*n+i])
		}
	}
}

func minMembersGrad[T float](c call[T]) {
	q, dout := c.in[0], c.in[2]
	n, members := len(dout), c.ins[0][0]
	for i, minimum := range c.in[1] {
		for e := range members {
			if q[e*n+i] == minimum {
				c.out[e*n+i] = dout[i]
				break
			}
		}
	}
}

func meanMembers[T float](c call[T]) {
	n, members := len(c.out), c.ins[0][0]
	for i, q := range c.in[0] {
		c.out[i%n] += q / T(members)
	}
}

func broadcastMembers[T float](c call[T]) {
	n := len(c.in[0])
	for i := range c.out {
		c.out[i] = c.in[0][i%n] / T(c.a.I[0])
	}
}

func tdTarget[T float](c call[T]) {
	r, d, q, logp, gamma, alpha := c.in[0], c.in[1], c.in[2], c.in[3], c.in[4][0], c.in[5][0]
	for i := range c.out {
		c.out[i] = r[i] + gamma*(1-d[i])*(q[i]-alpha*logp[i])
	}
}

func entropyLoss[T float](c call[T]) {
	sum := 0.0
	for i, logp := range c.in[0] {
		sum += float64(c.in[2][0])*float64(logp) - float64(c.in[1][i])
	}
	_, rows, _ := dims(c.ins[0])
	c.out[0] = T(sum / float64(rows))
}

func entropyGradLogp[T float](c call[T]) {
	_, rows, _ := dims(c.shape)
	for i := range c.out {
		c.out[i] = c.in[2][0] * c.in[1][0] / T(rows)
	}
}

func entropyGradQ[T float](c call[T]) {
	_, rows, _ := dims(c.shape)
	for i := range c.out {
		c.out[i] = -c.in[1][0] / T(rows)
	}
}
