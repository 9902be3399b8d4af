package experience

// Copied says how far a copy of frames has followed them. The zero value has followed nothing yet.
type Copied struct {
	of      any
	version uint64
	totals  []uint64 // of each reel of a Log
}

// Follows says whether c has followed that version of what of points to. If not, it does from now on,
// from nothing.
func (c *Copied) Follows(of any, version uint64) bool {
	if c.of == of && c.version == version {
		return true
	}
	*c = Copied{of: of, version: version}
	return false
}

// Places returns numbers that the places of frames are below: of those that are held, and of all
// that there will ever be.
func (l *Log) Places() (held, most int) {
	for i := range l.reels {
		held, most = max(held, l.reels[i].held()), max(most, l.reels[i].capacity)
	}
	return held * len(l.reels), most * len(l.reels)
}

// place is where a copy of the memory has a slot's frame: the same frame stays at its place.
func (r *reel) place(l *Log, slot int) int { return slot*len(l.reels) + r.number }

// Copy calls put for the frames that were added since c followed l, or for all frames that are held if
// l is not what c followed, or was loaded since: for one frame, or several whose places follow each
// other, with the place of the first. If put fails, c has followed nothing.
func (l *Log) Copy(c *Copied, put func(place int, frames []byte) error) error {
	if !c.Follows(l, l.clears) {
		c.totals = make([]uint64, len(l.reels))
	}
	for i := range l.reels {
		r := &l.reels[i]
		for frame := max(c.totals[i], r.first); frame < r.total; {
			slot, n := r.slot(frame), 1
			if len(l.reels) == 1 { // to the end of the chunk, and of the memory
				n = min(chunkLooks-slot%chunkLooks, r.capacity-slot, int(r.total-frame))
			}
			at := slot % chunkLooks * l.shape.Bytes
			if err := put(r.place(l, slot), r.frames[slot/chunkLooks][at:at+n*l.shape.Bytes]); err != nil {
				*c = Copied{}
				return err
			}
			frame += uint64(n)
		}
		c.totals[i] = r.total
	}
	return nil
}
