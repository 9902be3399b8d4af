package rng

// Sequence draws the items of one occasion in order. It is for code that needs a
// handful of numbers and does not know beforehand how many; bulk draws use the
// fills of Stream.
type Sequence struct {
	stream   Stream
	occasion uint64
	block    uint64
	words    [4]uint32
	left     int
}

// Uint32 returns the next 32 random bits.
func (q *Sequence) Uint32() uint32 {
	if q.left == 0 {
		q.words = q.stream.Block(q.occasion, q.block)
		q.block++
		q.left = 4
	}
	q.left--
	return q.words[3-q.left]
}

// Uint64 returns the next 64 random bits; with it a Sequence is a source of
// math/rand/v2.
func (q *Sequence) Uint64() uint64 {
	lo := uint64(q.Uint32())
	return lo | uint64(q.Uint32())<<32
}

// Float32 returns a number in [0,1).
func (q *Sequence) Float32() float32 { return unit(q.Uint32()) }

// Float64 returns a number in [0,1).
func (q *Sequence) Float64() float64 { return float64(q.Uint64()>>11) * (1.0 / (1 << 53)) }

// Norm returns an N(0,1) number; it uses a whole block.
func (q *Sequence) Norm() float64 {
	q.left = 0
	w0, w1, _, _ := q.stream.words(q.occasion, q.block)
	q.block++
	n, _ := normals(w0, w1)
	return n
}

// IntN returns a number in [0,n), without bias (Lemire 2019). n must be positive.
func (q *Sequence) IntN(n int) int {
	if n <= 0 {
		panic("rng: IntN of a number that is not positive")
	}
	if uint64(n) > 1<<32 {
		panic("rng: IntN of more than 2^32")
	}
	bound := uint64(n)
	for {
		product := uint64(q.Uint32()) * bound
		if low := product & (1<<32 - 1); low >= bound || low >= (1<<32)%bound {
			return int(product >> 32)
		}
	}
}

// Choose writes len(dst) different numbers of [0,n) in random order.
func (q *Sequence) Choose(dst []int, n int) {
	if len(dst) > n {
		panic("rng: Choose of more numbers than there are")
	}
	for i := range dst {
		dst[i] = q.IntN(n)
		for j := 0; j < i; j++ {
			if dst[j] == dst[i] {
				dst[i] = q.IntN(n)
				j = -1
			}
		}
	}
}
