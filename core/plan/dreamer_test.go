package plan

import (
	"math"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/device/cpu/kernel"
	"pgrlab/core/op"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/golden"
	"pgrlab/core/testing/optest"
)

// recordedParts are parts of DreamerV3 (danijar/dreamerv3 @e3f0224) as its own code computes them in
// float64.
type recordedParts struct {
	TwoHot struct {
		Bins, Logits, Target, Loss, DLogits, Pred golden.Array
		TargetBins                                [][]int     `json:"target_bins"`
		TargetWeights                             [][]float64 `json:"target_weights"`
		OfZero                                    float64     `json:"pred_of_zero_logits"`
	}
	KL struct {
		Post   golden.Array
		Unimix float64
		Probs  golden.Array `json:"probs_post"`
	}
	StraightThrough struct {
		Logits, Sample, Cotangent, DLogits golden.Array
	} `json:"straight_through"`
	Optimiser recordedOptimiser
}

func parts(t *testing.T) (r recordedParts) {
	t.Helper()
	golden.Recorded(t, "../../agent/dreamer/testdata/dreamer_parts.json", &r)
	return r
}

// filled is a tensor with recorded numbers, in another shape if one is given.
func filled(name string, a golden.Array, shape ...int) *op.Tensor {
	if len(shape) == 0 {
		shape = a.Shape
	}
	x := op.NewTensor(name, shape...)
	copy(x.Data, a.Float32())
	return x
}

// onEveryFamily runs a test on the CPU with each family of kernels.
func onEveryFamily(t *testing.T, run func(t *testing.T, dev *cpu.Device)) {
	for _, family := range kernel.Available() {
		t.Run(family, func(t *testing.T) {
			dev := cputest.New(t, cpu.Options{Threads: 1, Family: family})
			run(t, dev)
		})
	}
}

// The two-hot distribution of rewards and values: targets, loss, its gradient, and predictions.
func TestTwoHotGolden(t *testing.T) {
	r := parts(t).TwoHot
	rows, k := r.Logits.Shape[0], r.Logits.Shape[1]
	onEveryFamily(t, func(t *testing.T, dev *cpu.Device) {
		logits, target, bins, weight := filled("logits", r.Logits), filled("target", r.Target, rows, 1), filled("bins", r.Bins), op.NewTensor("weight", rows, 1)
		zero := op.NewTensor("zero", 1, k)
		var hot, mean, still, loss *op.Node
		g, err := op.Build("two-hot", func(g *op.Graph) {
			z, b := g.Bind(logits), g.Bind(bins)
			hot, mean, still = g.TwoHotAt(g.Bind(target), b), g.BinMean(z, b), g.BinMean(g.Bind(zero), b)
			loss = g.CrossEntropy(z, hot, 1, g.Bind(weight))
		})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(g, Spec{Loss: loss, Outputs: []*op.Node{hot, mean, still}, Gradients: []*op.Tensor{logits}}, dev)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for i := range rows { // one row's loss at a time
			clear(weight.Data)
			weight.Data[i] = 1
			if err := p.Run(0); err != nil {
				t.Fatal(err)
			}
			golden.Near(t, "loss", p.Loss(), r.Loss.Data[i], 1e-5)
			want := make([]float64, k)
			for j, bin := range r.TargetBins[i] {
				want[bin] += r.TargetWeights[i][j]
			}
			optest.Near(t, "target", p.Data(hot)[i*k:(i+1)*k], want, 1e-6)
			scale := 0.0 // one ulp of a far bin's probability is more than the prediction
			for j, p := range softmax(r.Logits.Data[i*k : (i+1)*k]) {
				scale += p * math.Abs(r.Bins.Data[j])
			}
			if got := float64(p.Data(mean)[i]); !(math.Abs(got-r.Pred.Data[i]) <= 1e-6*scale) {
				t.Errorf("the prediction of row %d is %v, want %v", i, got, r.Pred.Data[i])
			}
		}
		if got := float64(p.Data(still)[0]); got != r.OfZero {
			t.Errorf("equal logits predict %v, want exactly %v", got, r.OfZero)
		}
		for i := range weight.Data {
			weight.Data[i] = 1
		}
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		slope, err := p.Gradient(logits)
		if err != nil {
			t.Fatal(err)
		}
		r.DLogits.Close(t, "gradient of the logits", slope, 1e-5)
	})
}

func softmax(z []float64) []float64 {
	largest, sum := z[0], 0.0
	for _, x := range z {
		largest = max(largest, x)
	}
	p := make([]float64, len(z))
	for j, x := range z {
		p[j] = math.Exp(x - largest)
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return p
}

// The latent state's probabilities, and the gradient that goes through a sample to its logits.
func TestGroupsGolden(t *testing.T) {
	r := parts(t)
	rows, groups, classes := r.KL.Post.Shape[0], r.KL.Post.Shape[1], r.KL.Post.Shape[2]
	onEveryFamily(t, func(t *testing.T, dev *cpu.Device) {
		post, logits := filled("post", r.KL.Post, rows, groups*classes), filled("logits", r.StraightThrough.Logits, rows, groups*classes)
		cotangent, sample := filled("cotangent", r.StraightThrough.Cotangent, rows, groups*classes), filled("sample", r.StraightThrough.Sample, rows, groups*classes)
		u := op.NewTensor("u", rows, groups)
		var of, drawn, through, loss *op.Node
		g, err := op.Build("groups", func(g *op.Graph) {
			of = g.GroupSoftmax(g.Bind(post), classes, r.KL.Unimix)
			p := g.GroupSoftmax(g.Bind(logits), classes, r.KL.Unimix)
			drawn = g.GroupSample(p, g.Bind(u), classes)
			through = g.Add(drawn, g.Sub(p, g.StopGradient(p)))
			loss = g.Sum(g.Mul(through, g.Bind(cotangent)), 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(g, Spec{Loss: loss, Outputs: []*op.Node{of, drawn, through}, Gradients: []*op.Tensor{logits}}, dev)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		// numbers that draw the recorded classes: the middle of each one's share of [0,1)
		for i := range u.Data {
			group := r.StraightThrough.Logits.Data[i*classes : (i+1)*classes]
			below := 0.0
			for j, x := range softmax(group) {
				x = x*(1-r.KL.Unimix) + r.KL.Unimix/float64(classes)
				if sample.Data[i*classes+j] == 1 {
					u.Data[i] = float32(below + x/2)
				}
				below += x
			}
		}
		if err := p.Run(0); err != nil {
			t.Fatal(err)
		}
		r.KL.Probs.Close(t, "probabilities", p.Data(of), 1e-6)
		optest.Near(t, "sample", p.Data(drawn), r.StraightThrough.Sample.Data, 0)
		optest.Near(t, "value of the sample", p.Data(through), r.StraightThrough.Sample.Data, 0)
		slope, err := p.Gradient(logits)
		if err != nil {
			t.Fatal(err)
		}
		r.StraightThrough.DLogits.Close(t, "gradient of the logits", slope, 1e-5)
	})
}

// A class is drawn as often as its probability says, none without probability, and a group that is
// not finite stays visible.
func TestGroupSamplesFollowTheirProbabilities(t *testing.T) {
	const n = 4000
	p, u := op.NewTensor("p", n, 8), op.NewTensor("u", n, 2)
	shares := []float32{0, 0.5, 0.2, 0.3, 0.25, 0.25, 0, 0.4} // the second group adds up to 0.9
	seed.Sub("u").FillUniform(u.Data, 0, 0)
	for i := range n {
		copy(p.Data[8*i:], shares)
	}
	p.Data[8*17+6] = float32(math.NaN())
	u.Data[2*18] = float32(math.NaN())
	p.Data[8*19+2] = float32(math.Inf(1))
	onEveryFamily(t, func(t *testing.T, dev *cpu.Device) {
		var out *op.Node
		g, err := op.Build("sample", func(g *op.Graph) { out = g.GroupSample(g.Bind(p), g.Bind(u), 4) })
		if err != nil {
			t.Fatal(err)
		}
		program, err := Compile(g, Spec{Outputs: []*op.Node{out}}, dev)
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		if err := program.Run(0); err != nil {
			t.Fatal(err)
		}
		drawn := program.Data(out)
		for _, group := range []int{2*17 + 1, 2 * 18, 2 * 19} {
			for j, v := range drawn[4*group : 4*group+4] {
				if !math.IsNaN(float64(v)) {
					t.Errorf("class %d of a group that is not finite is %v", j, v)
				}
			}
		}
		var counts [8]float64
		for i := 20; i < n; i++ {
			for group := range 2 {
				ones := 0.0
				for j := range 4 {
					v := float64(drawn[8*i+4*group+j])
					ones += v
					counts[4*group+j] += v / (n - 20)
				}
				if ones != 1 {
					t.Fatalf("group %d of row %d has %v ones", group, i, ones)
				}
			}
		}
		for j, want := range []float64{0, 0.5, 0.2, 0.3, 0.25, 0.25, 0, 0.5} {
			// four standard deviations of n draws
			if !(math.Abs(counts[j]-want) <= 4*math.Sqrt(want*(1-want)/n)) {
				t.Errorf("class %d came in a share of %v, want %v", j, counts[j], want)
			}
		}
	})
}
