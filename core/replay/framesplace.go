package replay

// Copied says how far a copy of frames has followed them. The zero value has followed nothing yet.
type Copied struct {
	of      any
	version uint64
	totals  []uint64 // of each reel of a Frames
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
func (f *Frames) Places() (held, most int) {
	for i := range f.reels {
		held, most = max(held, len(f.reels[i].shots)), max(most, f.reels[i].capacity)
	}
	return held * len(f.reels), most * len(f.reels)
}

// place is where a copy of the memory has a slot's frame: the same frame stays at its place.
func (r *reel) place(f *Frames, slot int) int { return slot*len(f.reels) + r.number }

// Copy calls put for the frames that were added since c followed f, or for all frames that are held if
// f is not what c followed, or was loaded since: for one frame, or several whose places follow each
// other, with the place of the first. If put fails, c has followed nothing.
func (f *Frames) Copy(c *Copied, put func(place int, frames []byte) error) error {
	if !c.Follows(f, f.clears) {
		c.totals = make([]uint64, len(f.reels))
	}
	for i := range f.reels {
		r := &f.reels[i]
		for frame := max(c.totals[i], r.oldest()); frame < r.total; {
			slot, n := r.slot(frame), 1
			if len(f.reels) == 1 { // to the end of the chunk, and of the memory
				n = min(chunkFrames-slot%chunkFrames, r.capacity-slot, int(r.total-frame))
			}
			at := slot % chunkFrames * f.size
			if err := put(r.place(f, slot), r.chunks[slot/chunkFrames][at:at+n*f.size]); err != nil {
				*c = Copied{}
				return err
			}
			frame += uint64(n)
		}
		c.totals[i] = r.total
	}
	return nil
}

// Places is Frames.Places of the frames that are drawn from.
func (s FrameSampler) Places() (held, most int) { return s.Frames.Places() }

// Copy is Frames.Copy of the frames that are drawn from.
func (s FrameSampler) Copy(c *Copied, put func(place int, frames []byte) error) error {
	return s.Frames.Copy(c, put)
}
