package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestLines runs the products of patches in the emulator.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, p := range programs(t) {
		for _, tile := range newGen(p.isa).lineTiles() {
			for range 12 {
				p.checkLines(t, r, tile)
			}
		}
	}
}

func (p program) checkLines(t *testing.T, r *rand.Rand, tile tile) {
	t.Helper()
	e := p.emulator
	keep := len(e.regions)
	defer func() { e.regions = e.regions[:keep] }()
	blocks, lines, k, tail, strip := 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(11), p.lanes, 2*p.lanes
	if tile.masked {
		tail = 1 + r.IntN(p.lanes)
	}
	m, n := blocks*tile.rows, (tile.vecs-1)*p.lanes+tail
	ars, aks, als, ldc := 1+r.IntN(5), 1, r.IntN(40), n+r.IntN(3)
	if r.IntN(2) == 0 {
		aks = r.IntN(5)
	}
	a, b := normal(r, (m-1)*ars+(lines-1)*als+(k-1)*aks+1), normal(r, lines*k*strip)
	c, mask, bias := normal(r, (m-1)*ldc+n), normal(r, (m-1)*ldc+n), normal(r, n)
	flags := r.Uint64N(4)
	args := map[string]uint64{"blocks": uint64(blocks), "lines": uint64(lines), "k": uint64(k), "ars": uint64(4 * ars), "aks": uint64(4 * aks),
		"jump": uint64(4 * (als - k*aks)), "ldc": uint64(4 * ldc), "tail": uint64(tail), "flags": flags, "bias": 0, "mask": 0}
	args["a"], _ = e.put(a)
	args["b"], _ = e.put(b)
	var result func() []float32
	args["c"], result = e.put(c)
	if r.IntN(2) == 0 {
		args["bias"], _ = e.put(bias)
	}
	if r.IntN(2) == 0 {
		args["mask"], _ = e.put(mask)
	}
	want := append([]float32(nil), c...)
	for i := range m {
		for j := range n {
			s := float32(0)
			if flags&flagLoad != 0 {
				s = c[i*ldc+j]
			}
			for l := range lines * k {
				s = fma32(a[i*ars+l/k*als+l%k*aks], b[l*strip+j], s)
			}
			if args["bias"] != 0 {
				s += bias[j]
			}
			if flags&flagReLU != 0 && s < 0 || args["mask"] != 0 && !(mask[i*ldc+j] > 0) {
				s = 0
			}
			want[i*ldc+j] = s
		}
	}
	name := fmt.Sprintf("Lines%dx%d", tile.rows, tile.vecs)
	if tile.masked {
		name += "Tail"
	}
	e.run(p.functions[name], args)
	equal(t, fmt.Sprintf("%s%s of %d×%d, tail %d, flags %d", p.name, name, lines, k, tail, flags), result(), want)
}
