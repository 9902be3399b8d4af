package sac

import (
	"math"

	"pgrlab/core/agent"
	"pgrlab/core/nn"
	"pgrlab/core/plan"
)

// The reference is SAC written out slowly in float64, with gradients by central differences of the
// losses themselves. It shares nothing with the programs but the first weights, the batch and the
// noise.

// layer64 is a fully connected layer: y = x·w + b, w[i][j] from input i to output j.
type layer64 struct {
	w [][]float64
	b []float64
}

type net64 []layer64

// net64Of copies member e of a network.
func net64Of(m nn.MLP, e int) net64 {
	var out net64
	for _, l := range m.Layers {
		shape := l.W.Shape
		in, width := shape[len(shape)-2], shape[len(shape)-1]
		layer := layer64{b: make([]float64, width)}
		for j := range width {
			layer.b[j] = float64(l.B.Data[e*width+j])
		}
		for i := range in {
			row := make([]float64, width)
			for j := range row {
				row[j] = float64(l.W.Data[(e*in+i)*width+j])
			}
			layer.w = append(layer.w, row)
		}
		out = append(out, layer)
	}
	return out
}

// params lists pointers to all parameters, in the order of nn: for each layer the
// weights, then the bias.
func (n net64) params() (all []*float64) {
	for _, l := range n {
		for _, row := range l.w {
			for j := range row {
				all = append(all, &row[j])
			}
		}
		for j := range l.b {
			all = append(all, &l.b[j])
		}
	}
	return all
}

func (n net64) forward(x []float64) []float64 {
	for k, l := range n {
		y := append([]float64(nil), l.b...)
		for i, v := range x {
			for j := range y {
				y[j] += v * l.w[i][j]
			}
		}
		if k < len(n)-1 {
			for j := range y {
				y[j] = math.Max(y[j], 0)
			}
		}
		x = y
	}
	return x
}

// policy64 returns a ~ π(s) and log π(a|s), from noise eps.
func policy64(pi net64, s, eps []float64) (action []float64, logp float64) {
	h := pi.forward(s)
	n := len(eps)
	for j, e := range eps {
		logStd := math.Min(math.Max(h[n+j], -20), 2)
		u := h[j] + math.Exp(logStd)*e
		a := math.Tanh(u)
		action = append(action, a)
		logp += -0.5*e*e - logStd - 0.5*math.Log(2*math.Pi) - math.Log(1-a*a+1e-6)
	}
	return action, logp
}

func mean64(pi net64, s []float64, act int) (action []float64) {
	for _, m := range pi.forward(s)[:act] {
		action = append(action, math.Tanh(m))
	}
	return action
}

func join(a, b []float64) []float64 { return append(append([]float64(nil), a...), b...) }

// adam64 is Adam in the order of PyTorch.
type adam64 struct {
	m, v []float64
	t    int
}

func (a *adam64) step(params []*float64, grad []float64, rate float64) {
	if a.m == nil {
		a.m, a.v = make([]float64, len(grad)), make([]float64, len(grad))
	}
	a.t++
	c := plan.DefaultAdam
	for i, g := range grad {
		a.m[i] = c.Beta1*a.m[i] + (1-c.Beta1)*g
		a.v[i] = c.Beta2*a.v[i] + (1-c.Beta2)*g*g
		m := a.m[i] / (1 - math.Pow(c.Beta1, float64(a.t)))
		v := a.v[i] / (1 - math.Pow(c.Beta2, float64(a.t)))
		*params[i] -= rate * m / (math.Sqrt(v) + c.Eps)
	}
}

// differences is the gradient of loss by central differences.
func differences(params []*float64, loss func() float64) []float64 {
	const h = 1e-6
	grad := make([]float64, len(params))
	for i, p := range params {
		at := *p
		*p = at + h
		up := loss()
		*p = at - h
		down := loss()
		*p = at
		grad[i] = (up - down) / (2 * h)
	}
	return grad
}

// batch64 is a batch by rows.
type batch64 struct{ s, a, next, targetEps, actorEps [][]float64 }

// sac64 is the reference agent.
type sac64 struct {
	config            Config
	pi                net64
	q, target         []net64
	alpha, logAlpha   float64
	piAdam, alphaAdam adam64
	qAdam             []adam64
	piGrad            []float64
	qGrad             [][]float64
	y                 []float64
	weight            []float64 // of each row in the critics' loss; nil: all 1
}

func sac64Of(s *Agent) *sac64 {
	r := &sac64{config: s.config, pi: net64Of(s.nets.policy, 0), alpha: s.Alpha(), qAdam: make([]adam64, s.config.Critics)}
	for e := range s.config.Critics {
		r.q = append(r.q, net64Of(s.nets.critics.layers, e))
		r.target = append(r.target, net64Of(s.nets.target.layers, e))
	}
	return r
}

// computeTarget is step 1 for the subset of critics.
func (r *sac64) computeTarget(b batch64, reward, done []float64, subset []int) {
	r.y = nil
	for i, s := range b.next {
		a, logp := policy64(r.pi, s, b.targetEps[i])
		least := math.Inf(1)
		for _, k := range subset {
			least = math.Min(least, r.target[k].forward(join(s, a))[0])
		}
		r.y = append(r.y, reward[i]+r.config.Gamma*(1-done[i])*(least-r.alpha*logp))
	}
}

func (r *sac64) actorLoss(b batch64) float64 {
	sum := 0.0
	for i, s := range b.s {
		a, logp := policy64(r.pi, s, b.actorEps[i])
		q, least := 0.0, math.Inf(1)
		for _, net := range r.q {
			one := net.forward(join(s, a))[0]
			q, least = q+one/float64(len(r.q)), min(least, one)
		}
		if r.config.PolicyQ == PolicyMin {
			q = least
		}
		sum += r.alpha*logp - q
	}
	return sum / float64(len(b.s))
}

// memberLoss is the mean squared error of one critic.
func (r *sac64) memberLoss(b batch64, k int) float64 {
	sum := 0.0
	for i, s := range b.s {
		d := r.q[k].forward(join(s, b.a[i]))[0] - r.y[i]
		if r.weight != nil {
			d *= math.Sqrt(r.weight[i])
		}
		sum += d * d
	}
	return sum / float64(len(b.s))
}

// update is one whole update in the authors' order: all gradients are taken
// before anything steps.
func (r *sac64) update(b batch64, reward, done []float64, subset []int, live agent.Rates, due bool) (out agent.Losses) {
	r.computeTarget(b, reward, done, subset)
	r.qGrad = nil
	for k := range r.q {
		out.Critic += r.memberLoss(b, k)
		r.qGrad = append(r.qGrad, differences(r.q[k].params(), func() float64 { return r.memberLoss(b, k) }))
		for i, s := range b.s {
			out.QMean += r.q[k].forward(join(s, b.a[i]))[0] / float64(len(b.s)*len(r.q))
		}
	}
	out.Actor, out.Alpha = math.NaN(), math.NaN()
	if due {
		out.Actor = r.actorLoss(b)
		r.piGrad = differences(r.pi.params(), func() float64 { return r.actorLoss(b) })
		entropy := -float64(r.config.Act)
		if r.config.TargetEntropy != 0 {
			entropy = r.config.TargetEntropy
		}
		gradient := 0.0
		for i, s := range b.s {
			_, logp := policy64(r.pi, s, b.actorEps[i])
			gradient -= (logp + entropy) / float64(len(b.s))
		}
		out.Alpha = r.logAlpha * gradient
		r.alphaAdam.step([]*float64{&r.logAlpha}, []float64{gradient}, live.LRActor)
		r.alpha = math.Exp(r.logAlpha)
	}
	for k := range r.q {
		r.qAdam[k].step(r.q[k].params(), r.qGrad[k], live.LRCritic)
	}
	if due {
		r.piAdam.step(r.pi.params(), r.piGrad, live.LRActor)
	}
	for k := range r.q {
		from := r.q[k].params()
		for i, p := range r.target[k].params() {
			*p += live.Tau * (*from[i] - *p)
		}
	}
	out.AlphaValue = r.alpha
	return out
}
