package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgrlab/core/rng"
)

// firsts returns items in all four places of a block: the first ones, some whose blocks carry
// beyond 32 bits, arbitrary ones and the last.
func firsts(r *rand.Rand) []uint64 {
	var at []uint64
	for phase := range uint64(4) {
		at = append(at, phase, 1<<34-64+phase, r.Uint64()&^3|phase, math.MaxUint64&^63+phase)
	}
	return at
}

func TestNormals(t *testing.T) {
	sizes := lengths()
	for n := 70; n <= 100; n++ {
		sizes = append(sizes, n)
	}
	streams := []rng.Stream{rng.New(1, "draws"), {Key: [2]uint32{math.MaxUint32, 1 << 31}}}
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(15, 16))
		for _, n := range sizes {
			for i, first := range firsts(r) {
				s, occasion := streams[i/4%2], r.Uint64()
				dst, want := fence(n, r.IntN(8)), make([]float32, n)
				s.FillNormal(want, occasion, first)
				f.Normals(dst.data, s, occasion, first)
				what := fmt.Sprintf("%d normals from %#x", n, first)
				dst.check(t, what)
				identical(t, what, dst.data, want)
			}
		}
	})
}

// TestNormalsOfRareWords draws at the ends of the range of words and of the quarter turns, in every
// lane. A search would never find the block of such a word, but Philox run backwards does.
func TestNormalsOfRareWords(t *testing.T) {
	logarithms := []uint32{0, 1, 2, 0xb504f333, 0xb504f334, 1 << 31, math.MaxUint32 - 1, math.MaxUint32}
	turns := []uint32{0, 1, 1<<29 - 1, 1 << 29, 1<<30 - 1, 1 << 30, 3 << 29, 1 << 31, 5 << 29, 3 << 30, 7<<29 - 1, 7 << 29, math.MaxUint32}
	s := rng.New(2, "rare")
	eachFamily(t, func(t *testing.T, f *Family) {
		r := rand.New(rand.NewPCG(17, 18))
		for _, a := range logarithms {
			for _, b := range turns {
				occasion, block := blockOf(s, a, b, r)
				if w := s.Block(occasion, block); w[0] != a || w[1] != b {
					t.Fatalf("block %#x of occasion %#x has words %x, want %x and %x", block, occasion, w, a, b)
				}
				for lane := range uint64(8) {
					const n = 64
					var got, want [n]float32
					first := 4 * (block - lane)
					s.FillNormal(want[:], occasion, first)
					f.Normals(got[:], s, occasion, first)
					identical(t, fmt.Sprintf("words %#x and %#x in lane %d", a, b, lane), got[:], want[:])
				}
			}
		}
	})
}

// blockOf finds a block whose first words are a and b: it tries values of the other words until
// items can reach the block.
func blockOf(s rng.Stream, a, b uint32, r *rand.Rand) (occasion, block uint64) {
	for {
		c := [4]uint32{a, b, r.Uint32(), r.Uint32()}
		for round := uint32(9); round < 10; round-- {
			c = roundBack(c, s.Key[0]+round*0x9e3779b9, s.Key[1]+round*0xbb67ae85)
		}
		block = uint64(c[0]) | uint64(c[1])<<32
		if block >= 8 && block < 1<<62-64 {
			return uint64(c[2]) | uint64(c[3])<<32, block
		}
	}
}

// roundBack is the inverse of a round of Philox: the lower halves of its products are words of the
// result, and its odd multipliers have inverses.
func roundBack(c [4]uint32, k0, k1 uint32) [4]uint32 {
	const m0, m1 = 0xd2511f53, 0xcd9e8d57
	c0, c2 := c[3]*inverse(m0), c[1]*inverse(m1)
	a, b := uint64(c0)*m0, uint64(c2)*m1
	return [4]uint32{c0, uint32(b>>32) ^ c[0] ^ k0, c2, uint32(a>>32) ^ c[2] ^ k1}
}

// inverse is 1/m modulo 2³² by Newton's method, m odd.
func inverse(m uint32) uint32 {
	x := m
	for range 5 {
		x *= 2 - m*x
	}
	return x
}

func TestNormalsDoNotAllocate(t *testing.T) {
	eachFamily(t, func(t *testing.T, f *Family) {
		dst, s := make([]float32, 1003), rng.New(3, "steady")
		if n := testing.AllocsPerRun(20, func() { f.Normals(dst, s, 1, 2) }); n != 0 {
			t.Errorf("a fill allocates %v times", n)
		}
	})
}
