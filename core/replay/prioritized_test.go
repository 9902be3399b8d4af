package replay

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/rng"
)

// filled makes a ring of n transitions with priorities: slot i has priorities[i], or the priority
// of new transitions.
func filled(n int, c PriorityConfig, priorities ...float64) (*Ring, *Prioritized) {
	r, p := NewRing(shape, n), NewPrioritized(c, rng.New(1, "priorities"))
	for i := range n {
		r.Add(numbered(i))
		p.Added(r.Newest(0))
	}
	for i, v := range priorities {
		p.tree.set(i, p.weight(v))
	}
	return r, p
}

func weighted(size int) *Batch {
	b := NewBatch(shape, size)
	b.Weight = make([]float32, size)
	return b
}

var paperPriorities = PriorityConfig{Alpha: 0.6, Epsilon: 1e-6}

// P(i) follows its definition for priorities over nine orders of magnitude.
func TestProbabilitiesAreTheFormula(t *testing.T) {
	priorities := []float64{0, 1e-6, 3, 0.5, 1000, 2, 2}
	_, p := filled(len(priorities), paperPriorities, priorities...)
	total := 0.0
	for _, v := range priorities {
		total += math.Pow(v+1e-6, 0.6)
	}
	for i, v := range priorities {
		want := math.Pow(v+1e-6, 0.6) / total
		if got := p.Probability(i); math.Abs(got-want) > 1e-15 {
			t.Errorf("P(%d) is %v, want %v", i, got, want)
		}
	}
}

// TestABatchByHand computes the batch of a known tree. The weights are 1, 2, 3, 4 (α 1, ε
// negligible). A batch of four has one sample in each of [0,2.5), [2.5,5), [5,7.5), [7.5,10), so
// that slot 3 is sampled at least once and slot 0 at most once. The importance weights at β are
// (4·P)^−β divided by the largest.
func TestABatchByHand(t *testing.T) {
	r, p := filled(4, PriorityConfig{Alpha: 1, Epsilon: 1e-12}, 1, 2, 3, 4)
	b := weighted(4)
	for occasion := range uint64(200) {
		const beta = 0.4
		if err := p.Sample(b, r, beta, occasion); err != nil {
			t.Fatal(err)
		}
		q := rng.New(1, "priorities").At(occasion)
		largest := 0.0
		for i, row := range p.Rows() {
			u, want := (float64(i)+q.Float64())*2.5, 0
			for edge := 1.0; u >= edge && want < 3; edge += float64(want) + 1 {
				want++
			}
			if row != want {
				t.Fatalf("occasion %d: %v falls on slot %d, want %d", occasion, u, row, want)
			}
			if b.Obs[2*i] != float32(row) || b.Reward[i] != float32(row)+0.3 {
				t.Fatalf("place %d holds transition %v, want %d", i, b.Obs[2*i], row)
			}
			largest = max(largest, math.Pow(4*p.Probability(row), -beta))
		}
		for i, row := range p.Rows() {
			want := math.Pow(4*p.Probability(row), -beta) / largest
			if math.Abs(float64(b.Weight[i])-want) > 1e-6 {
				t.Fatalf("weight of slot %d is %v, want %v", row, b.Weight[i], want)
			}
		}
	}
}

// Over many batches every transition is sampled as often as its probability says. With β = 1 the
// weights undo that: the weighted mean is that of uniform sampling.
func TestFrequenciesAndTheirCorrection(t *testing.T) {
	const n, size, batches = 100, 32, 4000
	priorities := make([]float64, n)
	q := rng.New(3, "test").At(0)
	for i := range priorities {
		priorities[i] = math.Exp(2 * q.Norm())
	}
	r, p := filled(n, paperPriorities, priorities...)
	b := weighted(size)
	var counts [n]float64
	sum, weights := 0.0, 0.0
	for occasion := range uint64(batches) {
		if err := p.Sample(b, r, 1, occasion); err != nil {
			t.Fatal(err)
		}
		// Batches have different maxima, so the weights here are 1/(N·P) without the division.
		for _, row := range p.Rows() {
			counts[row]++
			w := 1 / (n * p.Probability(row))
			sum += w * float64(row)
			weights += w
		}
	}
	for i, c := range counts {
		want := p.Probability(i) * size * batches
		if math.Abs(c-want) > 5*math.Sqrt(want)+1 {
			t.Errorf("transition %d was sampled %v times, want %.0f", i, c, want)
		}
	}
	if mean := sum / weights; math.Abs(mean-(n-1)/2.0) > 0.7 {
		t.Errorf("corrected by the importance weights the mean is %.2f, want %.1f", mean, (n-1)/2.0)
	}
}

// A new transition gets the largest weight in the tree, whatever was in its slot before.
func TestNewTransitionsComeFirst(t *testing.T) {
	r, p := filled(3, paperPriorities)
	if got := p.Probability(2); math.Abs(got-1.0/3) > 1e-15 {
		t.Errorf("untouched transitions are not alike: %v", got)
	}
	b := weighted(64)
	if err := p.Sample(b, r, 1, 0); err != nil {
		t.Fatal(err)
	}
	p.Update(slices.Repeat([]float32{0.25}, 64))
	r.Add(numbered(3)) // replaces slot 0
	p.Added(r.Newest(0))
	if p.Len() != 3 || math.Abs(p.Probability(0)-1.0/3) > 1e-12 {
		t.Errorf("the new transition's probability is %v, want that of the largest, a third", p.Probability(0))
	}
	// Slot 0 is sampled again, and its priority is not a finite number.
	if err := p.Sample(b, r, 1, 1); err != nil {
		t.Fatal(err)
	}
	before := p.tree.total()
	p.Update(slices.Repeat([]float32{float32(math.NaN())}, 64))
	p.Update(slices.Repeat([]float32{float32(math.Inf(1))}, 64))
	if p.tree.total() != before {
		t.Errorf("the total is %v after priorities that are no numbers, want %v", p.tree.total(), before)
	}
}

// FuzzSumTree compares any order of settings with sums and searches from left to right.
func FuzzSumTree(f *testing.F) {
	f.Add([]byte{1, 2, 3, 250, 7})
	f.Add([]byte{0, 9, 0, 1, 1, 1, 255})
	f.Fuzz(func(t *testing.T, operations []byte) {
		var tree sumTree
		var flat []float64
		for i, o := range operations {
			slot := int(o) % (len(flat) + 1)
			weight := 1 / (1 + float64(i*7%13))
			if slot == len(flat) {
				flat = append(flat, 0)
				tree.grow(len(flat))
			}
			flat[slot] = weight
			tree.set(slot, weight)
			sum, most := 0.0, 0.0
			for _, w := range flat {
				sum, most = sum+w, max(most, w)
			}
			if math.Abs(tree.total()-sum) > 1e-12*sum || tree.most() != most {
				t.Fatalf("total %v and largest %v of %v", tree.total(), tree.most(), flat)
			}
		}
		before := 0.0
		for slot, w := range flat {
			if got := tree.find(before + w/2); got != slot {
				t.Fatalf("the middle of slot %d of %v is found in slot %d", slot, flat, got)
			}
			before += w
		}
		if len(flat) > 0 {
			for _, beyond := range []float64{tree.total(), 2 * tree.total()} { // rounding may lead there
				if got := tree.find(beyond); got >= len(flat) {
					t.Fatalf("%v of %v is in slot %d of %d", beyond, tree.total(), got, len(flat))
				}
			}
		}
	})
}

// Two trees with the same history, one of them loaded from a file in between, stay the same bit for
// bit: the sums do not depend on the order in which they came about.
func TestLoadedPrioritiesGoOnBitForBit(t *testing.T) {
	const n = 700 // more than one block of the file
	r, p := filled(n, paperPriorities)
	b := weighted(50)
	priorities := make([]float32, 50)
	play := func(p *Prioritized, first, last uint64) (rows []int) {
		for occasion := first; occasion < last; occasion++ {
			if err := p.Sample(b, r, 0.5, occasion); err != nil {
				t.Fatal(err)
			}
			rng.New(2, "errors").FillNormal(priorities, occasion, 0)
			p.Update(priorities)
			rows = append(rows, p.Rows()...)
		}
		return rows
	}
	play(p, 0, 100)
	var file bytes.Buffer
	if err := p.Save(&file); err != nil {
		t.Fatal(err)
	}
	saved := slices.Clone(file.Bytes())
	file.WriteString("more")
	back := NewPrioritized(paperPriorities, rng.New(1, "priorities"))
	back.Added(0)
	if err := back.Load(&file); err != nil {
		t.Fatal(err)
	}
	if file.String() != "more" {
		t.Fatal("load read beyond its end")
	}
	if a, b := play(p, 100, 200), play(back, 100, 200); !slices.Equal(a, b) {
		t.Error("other transitions were sampled")
	}
	if !slices.Equal(p.tree.sum, back.tree.sum) || !slices.Equal(p.tree.largest, back.tree.largest) {
		t.Error("the trees differ")
	}
	for name, wrong := range map[string][]byte{
		"torn": saved[:len(saved)-1], "empty": nil, "of something else": []byte("something quite different"),
		"with a weight of 0": append(append([]byte{}, saved[:8]...), make([]byte, 8*n)...),
	} {
		if err := back.Load(bytes.NewReader(wrong)); err == nil || back.Len() != 0 {
			t.Errorf("a file that is %s: %v, %d priorities", name, err, back.Len())
		}
	}
}

func TestSamplesThatCannotBe(t *testing.T) {
	r, p := filled(3, paperPriorities)
	r.Add(numbered(3))
	other := NewRing(shape, 5)
	for want, err := range map[string]error{
		"no room for weights": p.Sample(NewBatch(shape, 2), r, 1, 0),
		"of an empty ring":    NewPrioritized(paperPriorities, rng.New(1, "x")).Sample(weighted(2), other, 1, 0),
		"of another ring":     p.Sample(weighted(2), other, 1, 0),
	} {
		if err == nil {
			t.Errorf("a sample %s was made", want)
		}
	}
	for _, c := range []PriorityConfig{{Alpha: -1, Epsilon: 1}, {Alpha: 1}, {Alpha: math.NaN(), Epsilon: 1}, {Alpha: 1, Epsilon: math.Inf(1)}} {
		if c.Validate() == nil || !panics(func() { NewPrioritized(c, rng.New(1, "x")) }) {
			t.Errorf("%+v was accepted", c)
		}
	}
}

func TestAPrioritizedSampleDoesNotAllocate(t *testing.T) {
	r, p := filled(1000, paperPriorities)
	b, priorities := weighted(64), make([]float32, 64)
	occasion, next := uint64(0), numbered(1)
	if n := testing.AllocsPerRun(20, func() {
		occasion++
		if err := p.Sample(b, r, 0.7, occasion); err != nil {
			t.Fatal(err)
		}
		p.Update(priorities)
		r.Add(next)
		p.Added(r.Newest(0))
	}); n > 0 {
		t.Errorf("a sample allocates %v times", n)
	}
}

// BenchmarkPrioritized samples a batch of 256 and sets its priorities again, from a ring of 200,000,
// for comparison with BenchmarkSample.
func BenchmarkPrioritized(b *testing.B) {
	r, p := NewRing(shape, 200_000), NewPrioritized(paperPriorities, rng.New(1, "priorities"))
	for i := range 200_000 {
		r.Add(numbered(i))
		p.Added(i)
	}
	batch, priorities := weighted(256), make([]float32, 256)
	occasion := uint64(0)
	for b.Loop() {
		occasion++
		if err := p.Sample(batch, r, 0.7, occasion); err != nil {
			b.Fatal(err)
		}
		rng.New(2, "errors").FillUniform(priorities, occasion, 0)
		p.Update(priorities)
	}
}
