// Package rng draws random numbers by position instead of by order: number i of
// occasion t of a named stream of a seed is a pure function of (seed, name, t,
// i), computed with Philox4x32-10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011).
//
// # Why
//
// A run may be paused, cut into slices, resumed or spread over workers without
// changing a single draw. The state of a random stream is a counter that its owner
// has anyway (the update, the episode, the refit). Another device can compute the same
// numbers from the same four words.
package rng

// Stream is one named stream of random numbers. It is a value without state and
// safe for concurrent use.
type Stream struct{ Key [2]uint32 }

// New returns the stream of that name of a seed. Streams of different names or
// seeds are independent for all practical purposes.
func New(seed uint64, name string) Stream {
	return fromHash(mix(seed) ^ hash(name))
}

// Sub derives a stream that belongs to s, for example one for each member of an
// ensemble or each refit.
func (s Stream) Sub(name string) Stream {
	return fromHash(mix(uint64(s.Key[0])|uint64(s.Key[1])<<32) ^ hash(name))
}

// At starts the draws of one occasion at item 0.
func (s Stream) At(occasion uint64) *Sequence {
	return &Sequence{stream: s, occasion: occasion, left: 0}
}

// Block returns the four words of one block: items 4·block to 4·block+3 of the
// occasion.
func (s Stream) Block(occasion, block uint64) [4]uint32 {
	w0, w1, w2, w3 := s.words(occasion, block)
	return [4]uint32{w0, w1, w2, w3}
}

func (s Stream) words(occasion, block uint64) (w0, w1, w2, w3 uint32) {
	return philox(uint32(block), uint32(block>>32), uint32(occasion), uint32(occasion>>32), s.Key[0], s.Key[1])
}

func fromHash(h uint64) Stream {
	h = mix(h)
	return Stream{Key: [2]uint32{uint32(h), uint32(h >> 32)}}
}

// hash is FNV-1a, 64 bits.
func hash(name string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return h
}

// mix is the finaliser of SplitMix64 (Steele et al. 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// philox is Philox4x32 with ten rounds; constants from Salmon et al., table 2. The four
// words have names of their own, because the compiler keeps arrays in memory.
func philox(c0, c1, c2, c3, k0, k1 uint32) (r0, r1, r2, r3 uint32) {
	const m0, m1, w0, w1 = 0xd2511f53, 0xcd9e8d57, 0x9e3779b9, 0xbb67ae85
	for range 10 {
		a, b := uint64(c0)*m0, uint64(c2)*m1
		c0, c1, c2, c3 = uint32(b>>32)^c1^k0, uint32(b), uint32(a>>32)^c3^k1, uint32(a)
		k0 += w0
		k1 += w1
	}
	return c0, c1, c2, c3
}

// unit maps a word to [0,1) with 24 bits, so that the float32 is exact.
func unit(x uint32) float32 { return float32(x>>8) * (1.0 / (1 << 24)) }

// FillNormal writes items first, first+1, … of an occasion as N(0,1) numbers.
// An item gets the same number however a range is cut into fills.
func (s Stream) FillNormal(dst []float32, occasion, first uint64) {
	for len(dst) > 0 {
		w0, w1, w2, w3 := s.words(occasion, first/4)
		a, b := normals(w0, w1)
		c, d := normals(w2, w3)
		if first%4 == 0 && len(dst) >= 4 {
			dst[0], dst[1], dst[2], dst[3] = float32(a), float32(b), float32(c), float32(d)
			dst = dst[4:]
			first += 4
			continue
		}
		n := [4]float64{a, b, c, d}
		for i := first % 4; i < 4 && len(dst) > 0; i++ {
			dst[0] = float32(n[i])
			dst = dst[1:]
			first++
		}
	}
}

// FillUniform writes items first, first+1, … of an occasion as numbers in [0,1).
func (s Stream) FillUniform(dst []float32, occasion, first uint64) {
	for len(dst) > 0 {
		b := s.Block(occasion, first/4)
		for i := first % 4; i < 4 && len(dst) > 0; i++ {
			dst[0] = unit(b[i])
			dst = dst[1:]
			first++
		}
	}
}
