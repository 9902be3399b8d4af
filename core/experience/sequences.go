package experience

import (
	"fmt"

	"pgrlab/core/rng"
)

// Sequences are runs of consecutive looks of a log, for models of time: uniformly drawn, with
// replacement, across the ends of episodes.
type Sequences struct {
	Log    *Log // with columns of env steps
	Looks  int  // the most looks of all copies together that are seen; 0: all that are held
	Stream rng.Stream
}

// Sequence is T looks of a copy in a row. What led to a look is 0 if it begins an episode.
type Sequence struct {
	From    Ref         // names the first look
	Looks   []Look      // [T], the log's memory
	Actions [][]float32 // [T], that led to each look, the log's memory; nil where there was none
	Rewards []float32   // [T], as observed
	First   []bool      // [T], the look begins an episode
	Ends    []End       // [T], of the episode with the look
}

// NewSequence returns a sequence of that many looks, for Draw.
func NewSequence(looks int) *Sequence {
	return &Sequence{Looks: make([]Look, looks), Actions: make([][]float32, looks), Rewards: make([]float32, looks), First: make([]bool, looks), Ends: make([]End, looks)}
}

// starts is how many looks of a reel begin a sequence of that many.
func (s Sequences) starts(r *reel, looks int) int {
	seen := r.held()
	if s.Looks > 0 {
		seen = min(seen, s.Looks/len(s.Log.reels))
	}
	return max(0, seen-looks+1)
}

// Len is how many sequences of that many looks there are.
func (s Sequences) Len(looks int) (n int) {
	for i := range s.Log.reels {
		n += s.starts(&s.Log.reels[i], looks)
	}
	return n
}

// Draw writes row number row of the batch of an occasion to dst. What it gets is a function of the
// occasion, the row, and the number of looks. It allocates nothing, and several goroutines may call it at
// once.
func (s Sequences) Draw(dst *Sequence, occasion uint64, row int) error {
	looks := len(dst.Looks)
	all := s.Len(looks)
	if all == 0 {
		return fmt.Errorf("sample sequences: no copy has %d looks", looks)
	}
	words := s.Stream.Block(occasion, uint64(row))
	at := int((uint64(words[0])<<32 | uint64(words[1])) % uint64(all))
	for i := range s.Log.reels {
		r := &s.Log.reels[i]
		n := s.starts(r, looks)
		if at < n {
			r.sequence(s.Log, dst, r.total-uint64(looks+n-1)+uint64(at))
			break
		}
		at -= n
	}
	return nil
}

// Read writes the sequence that begins with a look to dst. It fails if not all of its looks are held.
func (s Sequences) Read(dst *Sequence, from Ref) error {
	r := &s.Log.reels[from.Copy]
	if after := from.Number + uint64(len(dst.Looks)); from.Number < r.first || after > r.total {
		return fmt.Errorf("read a sequence: looks %d to %d of copy %d, of which %d to %d are held", from.Number, after-1, from.Copy, r.first, r.total)
	}
	r.sequence(s.Log, dst, from.Number)
	return nil
}

// sequence writes the looks from number from on to dst.
func (r *reel) sequence(l *Log, dst *Sequence, from uint64) {
	dst.From = Ref{int32(r.number), from}
	for i := range dst.Looks {
		look := from + uint64(i)
		slot := r.slot(look)
		first := r.shots[slot].First == look
		dst.Looks[i], dst.First[i] = r.look(l, slot), first
		dst.Actions[i], dst.Rewards[i], dst.Ends[i] = nil, 0, Continues
		if !first {
			dst.Rewards[i], dst.Ends[i] = r.arrivals[slot].Observed, End(r.arrivals[slot].End)
			if look > r.first {
				dst.Actions[i] = r.action(l, r.slot(look-1))
			}
		}
	}
}
