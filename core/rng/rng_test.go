package rng

import (
	"math"
	"slices"
	"testing"
)

// These are the known answers of the authors' Random123 library (tests/kat_vectors, philox4x32 with
// 10 rounds).
func TestPhiloxKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		w0, w1, w2, w3 := philox(c.counter[0], c.counter[1], c.counter[2], c.counter[3], c.key[0], c.key[1])
		if got := [4]uint32{w0, w1, w2, w3}; got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestFillsDoNotDependOnTheCut(t *testing.T) {
	s := New(7, "cut")
	fills := map[string]func([]float32, uint64, uint64){"normal": s.FillNormal, "uniform": s.FillUniform}
	for name, fill := range fills {
		whole := make([]float32, 103)
		fill(whole, 5, 0)
		for _, cut := range []int{1, 2, 3, 4, 50, 102} {
			parts := make([]float32, len(whole))
			fill(parts[:cut], 5, 0)
			fill(parts[cut:], 5, uint64(cut))
			if !slices.Equal(whole, parts) {
				t.Errorf("%s fill cut at %d differs", name, cut)
			}
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint32]string{}
	for _, s := range []struct {
		name   string
		stream Stream
	}{
		{"seed 1", New(1, "a")}, {"seed 2", New(2, "a")}, {"name b", New(1, "b")}, {"sub", New(1, "a").Sub("x")}, {"sub y", New(1, "a").Sub("y")},
	} {
		for occasion := range uint64(3) {
			word := s.stream.At(occasion).Uint32()
			if other, ok := seen[word]; ok {
				t.Errorf("%s at %d draws the same word as %s", s.name, occasion, other)
			}
			seen[word] = s.name
		}
	}
}

// The moments are those of 400,000 draws; the bounds are five standard errors.
func TestMoments(t *testing.T) {
	const n = 400_000
	normal, uniform := make([]float32, n), make([]float32, n)
	s := New(3, "moments")
	s.FillNormal(normal, 0, 0)
	s.FillUniform(uniform, 1, 0)
	check := func(what string, got, want, deviation float64) {
		t.Helper()
		if bound := 5 * deviation / math.Sqrt(n); math.Abs(got-want) > bound {
			t.Errorf("%s is %.5f, want %.5f ± %.5f", what, got, want, bound)
		}
	}
	power := func(x []float32, k float64) (sum float64) {
		for _, v := range x {
			sum += math.Pow(float64(v), k)
		}
		return sum / n
	}
	check("normal mean", power(normal, 1), 0, 1)
	check("normal variance", power(normal, 2), 1, math.Sqrt2)
	check("normal fourth moment", power(normal, 4), 3, math.Sqrt(96))
	check("uniform mean", power(uniform, 1), 0.5, math.Sqrt(1.0/12))
	if lo, hi := slices.Min(uniform), slices.Max(uniform); lo < 0 || hi >= 1 {
		t.Errorf("uniform draws reach from %v to %v", lo, hi)
	}
	lagged := 0.0
	for i := 1; i < n; i++ {
		lagged += float64(normal[i]) * float64(normal[i-1]) / n
	}
	check("correlation of neighbours", lagged, 0, 1)
}

func TestIntNIsUniformAndChooseDistinct(t *testing.T) {
	q := New(1, "ints").At(0)
	counts := make([]float64, 7)
	for range 70_000 {
		counts[q.IntN(7)]++
	}
	for i, c := range counts {
		if math.Abs(c-10_000) > 5*math.Sqrt(10_000) {
			t.Errorf("IntN(7) gave %d %v times in 70,000", i, c)
		}
	}
	hits := make([]int, 10)
	for range 5_000 {
		var pair [2]int
		q.Choose(pair[:], 10)
		if pair[0] == pair[1] {
			t.Fatalf("Choose drew %d twice", pair[0])
		}
		hits[pair[0]]++
		hits[pair[1]]++
	}
	for i, h := range hits {
		if math.Abs(float64(h)-1000) > 5*math.Sqrt(1000) {
			t.Errorf("Choose drew %d %d times of about 1000", i, h)
		}
	}
	var all [5]int
	q.Choose(all[:], 5)
	slices.Sort(all[:])
	if all != [5]int{0, 1, 2, 3, 4} {
		t.Errorf("Choose of 5 of 5 drew %v", all)
	}
}

func BenchmarkFillNormal(b *testing.B) {
	dst := make([]float32, 4096)
	s := New(1, "bench")
	for b.Loop() {
		s.FillNormal(dst, 1, 0)
	}
	b.SetBytes(4 * 4096)
}
