package experience

import (
	"fmt"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// Frames are the newest frames of a log, as batches are drawn from them: uniformly and with
// replacement. What a row gets is a function of the occasion, the row, and the number of frames.
type Frames struct {
	*Log
	Looks  int // the most frames of all copies together that are seen; 0: all that are held
	Stream rng.Stream
	led    bool // env steps that put the agent elsewhere are drawn again
}

// WithoutRespawns returns f that draws other env steps in place of those that put the agent
// elsewhere. It is for models that learn what actions lead to.
func (f Frames) WithoutRespawns() Frames {
	f.led = true
	return f
}

// oldest is the number of the first frame of a reel that f sees.
func (f Frames) oldest(r *reel) uint64 {
	if f.Looks == 0 {
		return r.first
	}
	return max(r.first, r.total-min(r.total, uint64(f.Looks/len(f.reels))))
}

// Len is how many frames f sees.
func (f Frames) Len() (n int) {
	for i := range f.reels {
		n += int(f.reels[i].total - f.oldest(&f.reels[i]))
	}
	return n
}

const (
	// tries is how many frames are drawn for a row before Draw gives up: only the frames near an
	// episode's end cannot begin a window.
	tries = 1 << 16
	// mostLed is how many of them are drawn again because they put the agent elsewhere. Where there is
	// nothing else, the last one is used.
	mostLed = 64
)

// Draw writes row number row of the batch of an occasion to dst: n consecutive env steps of one
// episode, or fewer before a true end. It allocates nothing, and several goroutines may call it at
// once.
func (f Frames) Draw(dst *replay.FrameRow, n int, gamma float64, occasion uint64, row int) error {
	held := f.Len()
	for try := range uint64(tries) {
		if held == 0 {
			break
		}
		words := f.Stream.Block(occasion, uint64(row)*tries+try)
		r, at, oldest := f.frame(int((uint64(words[0])<<32 | uint64(words[1])) % uint64(held)))
		if steps := r.window(at, oldest, n, len(dst.Stack)); steps > 0 && !(f.led && try < mostLed && r.respawned(at, steps)) {
			r.draw(f.Log, dst, at, steps, gamma)
			return nil
		}
	}
	return fmt.Errorf("sample frames: there are no %d env steps in a row among %d frames", n, held)
}

// frame returns the i-th of the frames that f sees: its reel, its number there, and that of the first
// that is seen.
func (f Frames) frame(i int) (r *reel, at, oldest uint64) {
	for k := range f.reels {
		r, oldest = &f.reels[k], f.oldest(&f.reels[k])
		if n := int(r.total - oldest); i >= n {
			i -= n
			continue
		}
		return r, oldest + uint64(i), oldest
	}
	panic("experience: a frame outside of those held")
}
