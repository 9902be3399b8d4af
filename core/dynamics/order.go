package dynamics

import (
	"strconv"

	"pgrlab/core/rng"
)

// Part of the rows that is held out, and the most of them (jannerm/mbpo: mbpo/models/bnn.py, train,
// and mbpo/algorithms/mbpo.py, _train_model).
const (
	heldOutShare = 0.2
	mostHeldOut  = 5000
)

// order decides which rows a fit holds out, and in which order each member learns the others.
type order interface {
	// split returns a permutation of n rows, the first of which are held out.
	split(n int) []int32
	// rows writes which of the n training rows a member reads in an epoch, in what order: a draw with
	// replacement that each epoch but the first reshuffles.
	rows(dst []int32, member, epoch, n int)
}

// drawn are the orders of a refit, from random numbers.
type drawn struct {
	stream rng.Stream
	refit  uint64
}

func (d drawn) split(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	shuffle(all, d.stream.Sub("split").At(d.refit))
	return all
}

func (d drawn) rows(dst []int32, member, epoch, n int) {
	s := d.stream.Sub("member").Sub(strconv.Itoa(member))
	from := s.Sub("bootstrap").At(d.refit)
	for i := range dst {
		dst[i] = int32(from.IntN(n))
	}
	if epoch > 0 {
		shuffle(dst, s.Sub("order").At(d.refit<<20|uint64(epoch)))
	}
}

// shuffle permutes x (Knuth 1997, algorithm P).
func shuffle(x []int32, from *rng.Sequence) {
	for i := len(x) - 1; i > 0; i-- {
		j := from.IntN(i + 1)
		x[i], x[j] = x[j], x[i]
	}
}
