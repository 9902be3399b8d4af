package relevance

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// treeNode is context-tree switching as the reference writes it, with unnormalised logarithms and a
// node for each context (mgbellemare/SkipCTS: python/cts/model.py). The one difference is that the
// update of split uses the old weight of stay.
type treeNode struct {
	counts      []float64
	stay, split float64
	children    map[uint8]*treeNode
}

func newTreeNode(symbols int) *treeNode {
	n := &treeNode{stay: math.Log(0.5), split: math.Log(0.5), children: map[uint8]*treeNode{}}
	for range symbols {
		n.counts = append(n.counts, 1/float64(symbols))
	}
	return n
}

func logAdd(a, b float64) float64 {
	return math.Max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

func (n *treeNode) child(symbol uint8) *treeNode {
	if n.children[symbol] == nil {
		n.children[symbol] = newTreeNode(len(n.counts))
	}
	return n.children[symbol]
}

func (n *treeNode) estimate(symbol uint8) float64 {
	sum := 0.0
	for _, c := range n.counts {
		sum += c
	}
	return math.Log(n.counts[symbol] / sum)
}

func (n *treeNode) logProb(context []uint8, symbol uint8) float64 {
	own := n.estimate(symbol)
	if len(context) == 0 {
		return own
	}
	below := n.child(context[0]).logProb(context[1:], symbol)
	return logAdd(own+n.stay, below+n.split) - logAdd(n.stay, n.split)
}

func (n *treeNode) update(context []uint8, symbol uint8, alpha float64) float64 {
	own := n.estimate(symbol)
	n.counts[symbol]++
	if len(context) == 0 {
		return own
	}
	below := n.child(context[0]).update(context[1:], symbol, alpha)
	mixed := logAdd(own+n.stay, below+n.split) - logAdd(n.stay, n.split)
	one, a := math.Log1p(-alpha), math.Log(alpha)
	n.stay, n.split = logAdd(one+own+n.stay, a+below+n.split), logAdd(one+below+n.split, a+own+n.stay)
	return mixed
}

// Probabilities, weights and the probability after one more observation agree with
// the reference's over a sequence that depends on its context.
func TestContextTreeAgainstTheReference(t *testing.T) {
	const symbols, depth = 3, 2
	tree, reference := newContextTree(symbols, depth), newTreeNode(symbols)
	q := rng.New(5, "context tree").At(0)
	context := make([]uint8, depth)
	for update := range uint64(400) {
		symbol := uint8(q.IntN(symbols))
		if q.Float64() < 0.7 {
			symbol = (context[0] + context[1]) % symbols
		}
		alpha := switching(update + 1)
		now, after := tree.look(context, symbol, alpha)
		near(t, "probability", math.Log(now), reference.logProb(context, symbol), 1e-9)
		near(t, "probability while updating", math.Log(tree.update(context, symbol, alpha)), math.Log(now), 1e-12)
		reference.update(context, symbol, alpha)
		near(t, "probability after one more observation", math.Log(after), reference.logProb(context, symbol), 1e-9)
		again, _ := tree.look(context, symbol, alpha)
		near(t, "probability of the updated tree", again, after, 1e-12)
		context[1], context[0] = context[0], symbol
	}
	sum := 0.0
	for s := range symbols {
		now, _ := tree.look(context, uint8(s), 0.1)
		sum += now
	}
	near(t, "sum over symbols", sum, 1, 1e-12)
}

// For a single Dirichlet estimator, N̂ is the number of observations plus the prior. By hand: ρ =
// (n+a)/(N+1), ρ' = (n+1+a)/(N+2).
func TestPseudoCountOfAnEstimatorIsItsCount(t *testing.T) {
	tree := newContextTree(4, 0)
	for i := range 50 {
		symbol := uint8(0)
		if i%10 == 3 {
			symbol = 2
		}
		tree.update(nil, symbol, 0)
	}
	for symbol, want := range []float64{45.25, 0.25, 5.25, 0.25} {
		now, after := tree.look(nil, uint8(symbol), 0)
		near(t, "pseudo-count", pseudoCount(math.Log(now), math.Log(after)), want, 1e-9)
	}
}

// The probability of a vector of many dimensions underflows float64.
func TestPseudoCountInLogSpace(t *testing.T) {
	near(t, "pseudo-count at e^−2000", pseudoCount(-2000, -2000+1e-3), 1/math.Expm1(1e-3), 1e-6)
	if n := pseudoCount(-2000, -2000); n != 1e10 {
		t.Errorf("without any gain N̂ is %g, want its bound 1e10", n)
	}
	if n := pseudoCount(0, 0); n != 0 {
		t.Errorf("of a certain event N̂ is %g, want 0", n)
	}
}

var countShape = replay.Shape{Obs: 3, Act: 1}

// countBatch has copies of points at ±0.9, frequent first.
func countBatch(points [][4]float32, copies []int) *replay.Batch {
	n := 0
	for _, c := range copies {
		n += c
	}
	b, at := replay.NewBatch(countShape, n), 0
	for p, c := range copies {
		for range c {
			copy(b.Obs[3*at:], points[p][:3])
			b.Act[at] = points[p][3]
			at++
		}
	}
	return b
}

func newCount(t *testing.T) *Count {
	t.Helper()
	m, err := NewCount(DefaultCount(), countShape)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A point that was seen often is less relevant than one seen once, and that one less than one never
// seen; a density that has seen nothing finds all of them equally relevant.
func TestCountRanksByVisits(t *testing.T) {
	points := [][4]float32{{-0.9, -0.9, 0.9, 0.9}, {0.9, 0.9, -0.9, 0.1}, {-0.9, 0.9, 0.9, -0.9}, {0.9, -0.9, -0.9, -0.3}}
	seen, ask := countBatch(points[:3], []int{500, 20, 1}), countBatch(points, []int{1, 1, 1, 1})
	m, scores := newCount(t), make([]float32, 4)
	if err := m.Score(scores, ask, 4); err != nil {
		t.Fatal(err)
	}
	if scores[0] != scores[3] || !(scores[0] > 2) {
		t.Errorf("an empty density scores %v, want all alike and large", scores)
	}
	m.Begin(seen, seen.Size)
	m.Observe(seen, seen.Size)
	if err := m.Score(scores, ask, 4); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(scores) || !(scores[0] < 0.1) || !(scores[3] > 2) {
		t.Errorf("F is %v of points seen 500, 20, 1 and 0 times; want it to rise from below 0.1 to above 2", scores)
	}
	// Outside the bins F is still a number: the outer bins are open.
	far := countBatch([][4]float32{{1e30, float32(math.NaN()), -1e30, 7}}, []int{1})
	if err := m.Score(scores, far, 1); err != nil || !(scores[0] > 0 && scores[0] <= 10) {
		t.Errorf("far away F is %v, %v", scores[0], err)
	}
}

// The left neighbour is the first split: where each dimension repeats the one to its left, a depth
// of 1 is enough to predict it, and the first dimension stays unpredictable.
func TestLeftNeighbourIsTheFirstSplit(t *testing.T) {
	m, err := NewCount(CountConfig{Bins: 8, Depth: 1}, countShape)
	if err != nil {
		t.Fatal(err)
	}
	b := replay.NewBatch(countShape, 2000)
	q := rng.New(9, "left neighbour").At(0)
	for i := range b.Size {
		first := 2*q.Float32() - 1
		b.Obs[3*i], b.Obs[3*i+1], b.Obs[3*i+2], b.Act[i] = first, first, -first, -first
	}
	m.Begin(b, b.Size)
	m.Observe(b, b.Size)
	symbols := m.read(b, 7)
	for k, want := range []float64{0.125, 0.97, 0.97, 0.97} {
		now, _ := m.trees[k].look(m.before(symbols, k), symbols[1+k], 0.001)
		if k == 0 && math.Abs(now-want) > 0.03 || k > 0 && now < want {
			t.Errorf("probability of dimension %d given its neighbour is %.3f, want about %.3f", k, now, want)
		}
	}
}

func TestSavedCountGoesOn(t *testing.T) {
	b := replay.NewBatch(countShape, 300)
	fillBatch(b, 3)
	m := newCount(t)
	m.Begin(b, 300)
	m.Observe(b, 200)
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	saved := file.Bytes()
	file.WriteString("what follows")
	other := newCount(t)
	if err := other.Load(&file); err != nil {
		t.Fatal(err)
	}
	if file.String() != "what follows" {
		t.Errorf("%d bytes are left, want 12", file.Len())
	}
	var scores [2][]float32
	for i, c := range []*Count{m, other} {
		c.Observe(b, 100)
		scores[i] = make([]float32, 300)
		if err := c.Score(scores[i], b, 300); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(scores[0], scores[1]) || m.Seen() != other.Seen() {
		t.Error("the loaded density goes on differently")
	}
	for _, cut := range []int{0, 7, 39, 60, len(saved) / 2, len(saved) - 1} {
		if err := newCount(t).Load(bytes.NewReader(saved[:cut])); err == nil {
			t.Errorf("%d of %d bytes were loaded", cut, len(saved))
		}
	}
	damaged := slices.Clone(saved)
	damaged[32+2*4*8] = 0xff // the number of nodes
	if err := newCount(t).Load(bytes.NewReader(damaged)); err == nil {
		t.Error("a damaged number of nodes was loaded")
	}
}
