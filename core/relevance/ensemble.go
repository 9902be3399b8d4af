package relevance

import (
	"fmt"
	"io"
	"math"

	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

var _ = register(Spec{
	Name: "ensemble", Doc: "how much the generator's models of the dynamics disagree on s′; methods whose generator is an ensemble have it", Equation: "H₂(mean of pᵢ(s′|s,a)) − mean of H₂(pᵢ)",
	Source:   "Shyam et al. 2019, Jensen-Rényi divergence; nnaisense/MAX",
	Learning: LearnsWithGenerator,
	New: func(d Deps) (Function, error) {
		if d.Models == nil {
			return nil, fmt.Errorf("relevance %q: the generator's models of the dynamics, which it is computed from, are missing", "ensemble")
		}
		return newEnsemble(d)
	},
})

// ensemble is the relevance function "ensemble": F of Disagreement, of the models that the generator has
// fitted already, so that nothing is learned twice. It does not depend on s', the reward or the end.
type ensemble struct {
	models           Models
	shape            replay.Shape
	scorer           *plan.Blocks
	means, variances []float32 // [N,rows,O], as the models predict them
}

// largestVariance is that of MAX's networks. Models that may have larger ones count as if they had this one:
// otherwise F would be of variances again, where nothing is known.
var largestVariance = float32(math.Exp(lowestLogVariance + rangeOfLogVariance))

// ensembleRows is how many rows one run scores: fewer with many models, whose every pair takes memory.
func ensembleRows(models int) int {
	return min(disagreementRows, max(64, 64*disagreementRows/(models*models)))
}

// newEnsemble compiles the score.
func newEnsemble(d Deps) (*ensemble, error) {
	n, o := d.Models.Members(), d.Shape.Obs
	rows := ensembleRows(n)
	f := &ensemble{models: d.Models, shape: d.Shape, means: make([]float32, n*rows*o), variances: make([]float32, n*rows*o)}
	floor := newFloor(o)
	var err error
	f.scorer, err = plan.NewBlocks("ensemble score", rows, d.Device, func(g *op.Graph) (in []*op.Node, s plan.Spec) {
		var means, variances []*op.Node
		for i := range n {
			mean, variance := g.Input(fmt.Sprintf("mean %d", i), rows, o), g.Input(fmt.Sprintf("variance %d", i), rows, o)
			in, means = append(in, mean, variance), append(means, mean)
			variances = append(variances, compressed(g, variance, floor))
		}
		return in, plan.Spec{Outputs: []*op.Node{jensenRenyi(g, means, variances)}}
	})
	if err != nil {
		return nil, fmt.Errorf("relevance ensemble: %w", err)
	}
	return f, nil
}

func (*ensemble) Name() string { return "ensemble" }

// Known says whether the generator's models have learned anything.
func (f *ensemble) Known() bool { return f.models.Fitted() }

// Score writes F of rows transitions.
func (f *ensemble) Score(dst []float32, b *replay.Batch, rows int) error {
	o, a, n := f.shape.Obs, f.shape.Act, f.models.Members()
	var failed error
	err := f.scorer.Each(0, rows, func(first, some int) {
		if failed != nil {
			return
		}
		failed = f.models.Predict(f.means, f.variances, b.Obs[first*o:], b.Act[first*a:], some)
		for i, v := range f.variances[:n*some*o] {
			f.variances[i] = min(v, largestVariance)
		}
		for i := range n {
			copy(f.scorer.In[2*i], f.means[i*some*o:(i+1)*some*o])
			copy(f.scorer.In[2*i+1], f.variances[i*some*o:(i+1)*some*o])
		}
	}, dst)
	if failed != nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("relevance ensemble: %w", err)
	}
	maskRespawns(dst, b, rows)
	return nil
}

// Save writes nothing: the generator saves its models.
func (*ensemble) Save(io.Writer) error { return nil }

// Load reads nothing.
func (*ensemble) Load(io.Reader) error { return nil }

// Close releases the compiled program.
func (f *ensemble) Close() error { return f.scorer.Close() }
