package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgrlab/core/device"
)

// summation is the permitted error of a sum in float32, as a share of the magnitudes of its terms:
// 16 roundings, which sums of these lengths, in this many partial sums, stay well below.
const summation = 16.0 / (1 << 24)

// matrices is a product with operands of random numbers, and with its expected result: Σ is the sum
// of the terms' magnitudes.
type matrices struct {
	product
	program *device.Program
	random  *rand.Rand
}

func (m *matrices) buffer(members, rows, cols int) (Operand, []float32) {
	b := device.Buffer{Members: members, Rows: rows, Cols: cols, Host: make([]float32, members*rows*cols)}
	for i := range b.Host {
		b.Host[i] = float32(m.random.NormFloat64())
	}
	m.program.Buffers = append(m.program.Buffers, b)
	return at(device.Ref(len(m.program.Buffers)-1), 0), b.Host
}

func (m *matrices) host(a any) []float32 {
	o, ok := a.(Operand)
	if !ok {
		return nil
	}
	return m.program.Buffers[o.Ref].Host[o.Offset:]
}

// newMatrices makes the operands of a product of this geometry, with bias, ReLU and mask.
func newMatrices(p product, seed uint64) *matrices {
	m := &matrices{product: p, program: &device.Program{}, random: rand.New(rand.NewPCG(seed, 3))}
	rows, along := m.m, m.k
	if p.layout == tn {
		rows, along = m.k, m.m
	}
	members := p.members * p.inner
	m.c, _ = m.buffer(p.members, p.m, p.n)
	m.a, _ = m.buffer(members, rows, p.first)
	m.strideA, m.strideA2 = rows*p.first, rows*(along-p.first)
	if p.first < along {
		m.a2, _ = m.buffer(members, rows, along-p.first)
	}
	m.b, _ = m.buffer(members, p.k, p.n)
	if p.relu {
		m.bias, _ = m.buffer(1, members, p.n)
	}
	m.mask, _ = m.buffer(p.members, p.m, p.n)
	for i := range m.host(m.c) { // the result's memory may hold anything before
		m.host(m.c)[i] = float32(math.NaN())
	}
	return m
}

// term returns element (i,l) of A and (l,j) of B of a member.
func (m *matrices) term(e, i, j, l int) (a, b float32) {
	row, col, along := i, l, m.k
	if m.layout == tn {
		row, col, along = l, i, m.m
	}
	if col < m.first {
		a = m.host(m.a)[e*m.strideA+row*m.first+col]
	} else {
		a = m.host(m.a2)[e*m.strideA2+row*(along-m.first)+col-m.first]
	}
	at := l*m.n + j
	if m.layout == nt {
		at = j*m.k + l
	}
	return a, m.host(m.b)[e*m.strideB+at]
}

// check runs the product with a division, and compares each element.
func (m *matrices) check(t *testing.T, target Target, d division) {
	t.Helper()
	executable, err := newCard(t, target).Compile(m.program)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{program: m.program, target: target}
	b.products(m.product, d)
	x := executable.(*run)
	x.recipes = []Recipe{b.recipe}
	what := fmt.Sprintf("%s of %d×%d×%d, %d members, %d added, %d of A apart, %d splits", d.kernel, m.m, m.n, m.k, m.members, m.inner, m.first, d.splits)
	if err := x.Run(0); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if exact := m.worst(x.Data(m.c.Ref), target.Precision.Round); !(exact <= 1) {
		t.Errorf("%s: %.3g times the error that it may have", what, exact)
	}
}

// worst returns the largest error of a result, as a multiple of the permitted error.
func (m *matrices) worst(got []float32, round func(float32) float32) (worst float64) {
	bias, mask := m.host(m.bias), m.host(m.mask)
	for i := range got {
		e, row, col := i/(m.m*m.n), i/m.n%m.m, i%m.n
		var sum, magnitude float64
		for in := range m.inner {
			for l := range m.k {
				a, b := m.term(e+in, row, col, l)
				product := float64(round(a)) * float64(round(b))
				sum, magnitude = sum+product, magnitude+math.Abs(product)
			}
		}
		if bias != nil {
			sum += float64(bias[e*m.n+col])
			magnitude += math.Abs(float64(bias[e*m.n+col]))
		}
		if m.relu {
			sum = max(0, sum)
		}
		if mask != nil && !(mask[i] > 0) {
			sum, magnitude = 0, 0
		}
		distance := math.Abs(float64(got[i]) - sum)
		if !(distance <= summation*magnitude) { // true for NaN as well
			worst = max(worst, distance/(summation*magnitude))
			if math.IsNaN(distance) {
				return math.Inf(1)
			}
		}
	}
	return worst
}

// geometries returns products that meet all edges of a tile: rows with and without whole vectors,
// one tile that is not full and several tiles, an A in two parts, sums over members, sums in parts.
func geometries(l layout, t tile) (list []product, splits []int) {
	wide := plain(l, t.m-4, t.n-8, t.k*2+8, 1)
	narrow := plain(l, t.m+1, t.n/2+3, t.k+3, 2)
	inner := plain(l, 8, 12, t.k*3, 1)
	inner.inner = 3
	for i, p := range []product{wide, narrow, inner} {
		p.relu = i != 1
		if l != nt && i < 2 {
			p.first -= 4 + i*5
		}
		list, splits = append(list, p), append(splits, 1+i*2)
	}
	splits[1] = 1
	return append(list, list[2]), append(splits, 1)
}

// launchOf returns the largest number of rows that a launch makes in these tests: those of one
// tile, so that larger products take several launches.
func launchOf(p product, t tile) int {
	if p.layout == tn {
		return p.m
	}
	return t.m
}

// Every tile of every layout is tested, in plain float32 and in both precisions of the tensor
// cores: the factors are rounded to the precision, and nothing else is.
func TestTilesAgreeWithPlainProducts(t *testing.T) {
	for _, l := range []layout{nn, nt, tn} {
		for _, tile := range simtTiles {
			list, splits := geometries(l, tile)
			for i, p := range list {
				newMatrices(p, uint64(i)).check(t, Target{SM: 70, Precision: FP32}, division{"product" + string(l) + "_" + tile.name, tile, splits[i], launchOf(p, tile)})
			}
		}
		for _, tile := range tensorTiles {
			for _, precision := range []Precision{TF32, BF16} {
				if l == nt && tile.n == 256 {
					continue
				}
				list, splits := geometries(l, tile)
				if precision == BF16 && !soak { // only the rounding would differ
					list = list[:1]
				}
				for i, p := range list {
					d := division{"product" + string(l) + "_" + tensorNames[precision] + "_" + tile.name, tile, splits[i], launchOf(p, tile)}
					newMatrices(p, uint64(i)).check(t, Target{SM: 80, Precision: precision}, d)
				}
			}
		}
	}
}

// Every tile of Hopper's warpgroups on operands of every layout.
func TestWarpgroupsAgreeWithPlainProducts(t *testing.T) {
	for _, precision := range []Precision{TF32, BF16} {
		target := Target{SM: 90, Precision: precision}
		for _, f := range tensorOf(target) {
			for _, tile := range f.tiles {
				for _, l := range []layout{nn, nt, tn} {
					list, splits := geometries(l, tile)
					if precision == BF16 && l != nn && !soak { // other rounding, the same places
						list = list[:1]
					}
					for i, p := range list {
						newMatrices(p, uint64(i)).check(t, target, division{f.kernel(l, tile), tile, splits[i], launchOf(p, tile)})
					}
				}
			}
		}
	}
}

// A product without summands is only bias, ReLU and mask.
func TestProductOfNothing(t *testing.T) {
	for _, l := range []layout{nn, nt, tn} {
		p := plain(l, 5, 7, 0, 2)
		p.relu = true
		newMatrices(p, 1).check(t, Target{SM: 80, Precision: TF32}, divide(p, Target{SM: 80, Precision: TF32}))
	}
}

// These products are as large as those that the tensor cores are for, and are divided in the same
// way.
func TestLargeProducts(t *testing.T) {
	if !soak {
		t.Skip("the long form multiplies matrices of 256×512×512 (PGRLAB_SOAK=1); TestTilesAgreeWithPlainProducts has each kernel on small ones")
	}
	for _, l := range []layout{nn, nt, tn} {
		for _, target := range []Target{{SM: 80, Precision: TF32}, {SM: 90, Precision: BF16}} {
			p := plain(l, 272, 500, 520, 1)
			p.relu = true
			d := divide(p, target)
			if d.shared == 0 {
				t.Errorf("%v %s of %d×%d×%d goes to %s", target, l, p.m, p.n, p.k, d.kernel)
			}
			newMatrices(p, 5).check(t, target, d)
		}
	}
}
