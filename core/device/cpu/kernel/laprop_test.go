package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestLaProp(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(21, 22))
		for _, n := range lengths() {
			w, m, v := fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)).normal(r), fence(n, r.IntN(8)).normal(r)
			g0, g1 := fence(n, 1).normal(r).data, fence(n, 2).normal(r).data
			if n%2 == 0 {
				g1 = nil
			}
			plain.Mul(v.data, v.data, v.data)
			h := AdamStep{0.9, 0.999, 3e-3, 1.3, 1e-20, 1e-3, 0.7}
			want := append([]float32(nil), w.data...)
			for i := range want {
				g := float64(g0[i])
				if g1 != nil {
					g += float64(g1[i])
				}
				g *= 0.7
				b1, b2 := float64(h.Beta1), float64(h.Beta2)
				vi := b2*float64(v.data[i]) + (1-b2)*g*g
				mi := b1*float64(m.data[i]) + (1-b1)*g/(math.Sqrt(vi)*1.3+1e-20)
				want[i] = float32((1-1e-3)*float64(want[i]) - 3e-3*mi)
			}
			f.LaProp(w.data, m.data, v.data, g0, g1, &h)
			w.check(t, "w")
			m.check(t, "m")
			v.check(t, "v")
			same(t, fmt.Sprintf("laprop of %d", n), w.data, want)
		}
	})
}

// A first step along a gradient g is g/(|g|+ε), however small g is: never more than 1, and 0 where g
// is 0. The squares of the smaller ones are no normal numbers, and the least of all are 0.
func TestLaPropOfTinyGradients(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		var g []float32
		for x := 1e-12; x > 1e-45; x /= 3 {
			g = append(g, float32(x))
		}
		g = append(g, 0)
		n := len(g)
		w, m, v := make([]float32, n), make([]float32, n), make([]float32, n)
		c1, c2 := 1-float64(float32(0.9)), 1-float64(float32(0.999))
		h := AdamStep{0.9, 0.999, float32(1 / c1), float32(1 / math.Sqrt(c2)), 1e-20, 0, 1}
		f.LaProp(w, m, v, g, nil, &h)
		for i, x := range g {
			want := float64(x) / (float64(x) + 1e-20)
			// v is a multiple of 1.4e-45, so that √(v/c2) is wrong by up to 1e-21
			if got := -float64(w[i]); !(math.Abs(got-want) <= 0.15*want) || want == 0 && got != 0 {
				t.Errorf("a gradient of %g makes a step of %g, want %g", x, got, want)
			}
			if x > 1e-18 && !(math.Abs(-float64(w[i])-want) <= 1e-4) {
				t.Errorf("a gradient of %g makes a step of %g, want %g", x, -w[i], want)
			}
		}
	})
}
