package maze

import "math/rand/v2"

// Split separates sets of mazes: no maze of one is drawn in another.
type Split uint64

// The splits.
const (
	Training Split = iota
	Validation
	Test
)

// purpose separates the streams of an episode.
type purpose uint64

const (
	forLayout purpose = 0x6c61796f7574 // "layout"
	forLook   purpose = 0x6c6f6f6b
	forStart  purpose = 0x7374617274
	forTV     purpose = 0x7476
)

// draw is the source of an episode's random numbers, seeded again for each use.
type draw struct {
	source rand.PCG
	*rand.Rand
}

func newDraw() *draw {
	d := &draw{}
	d.Rand = rand.New(&d.source)
	return d
}

// world determines an episode.
type world struct {
	Split   Split
	Seed    uint64
	Episode uint64
}

// begin makes d draw item i of a purpose.
func (d *draw) begin(w world, p purpose, i uint64) { d.source.Seed(w.key(p), scatter(i)) }

// key is a distinct number for each world and purpose.
func (w world) key(p purpose) uint64 {
	return scatter(scatter(scatter(w.Seed^uint64(p))+uint64(w.Split)) + w.Episode)
}

// scatter spreads neighbouring numbers over all 64 bits (the finaliser of SplitMix64,
// Steele, Lea and Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
