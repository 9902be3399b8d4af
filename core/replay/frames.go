package replay

import (
	"fmt"

	"pgrlab/core/rng"
)

// chunkFrames is how many frames the memory of a Frames grows by.
const chunkFrames = 256

// Frames keeps the newest frames of an environment's copies as bytes, each once, with the action
// that followed it. The stacks of an observation, and windows of several env steps, are put
// together from frames by their indices. Memory is allocated in chunks as frames arrive. A Frames
// belongs to one goroutine while it is written to.
type Frames struct {
	size, act int
	total     uint64 // frames ever added
	clears    uint64 // how often all frames were forgotten
	reels     []reel // of each copy
}

// reel holds the frames of one copy.
type reel struct {
	number   int // among the reels
	capacity int
	total    uint64 // frames ever added
	shots    []shot // by slots, as many as frames are held
	chunks   [][]byte
	actions  []float32 // [len(shots),A]
}

// shot is what is known about a frame.
type shot struct {
	First  uint64  // number of its episode's first frame
	Since  uint64  // frames that had been added before it, of all copies
	Reward float32 // of the action that followed it
	Acted  bool    // an action followed it: false for the last frame of an episode, and for the newest
	Ended  bool    // the episode came to a true end with it
	// Respawned says that the environment put the agent where the frame shows it: no action led there.
	Respawned bool
}

// FrameRow is a row of a batch of frames, or the frames that another row was made from. It spans n
// env steps. The lengths of Stack and Next say how many frames an observation has; at the beginning
// of an episode its first frame is repeated. Frames and actions remain the memory of their owner.
type FrameRow struct {
	Stack, Next [][]byte  // of s, and of s′ n steps later: the oldest frame first
	Action      []float32 // [A], taken in s
	Return      float32   // Σ γⁱ·r over the n steps
	Discount    float32   // γⁿ; 0 if the episode came to a true end
	Respawned   bool      // one of the steps put the agent elsewhere
	// Places and NextPlaces are the places of the frames of Stack and Next in a copy of the memory
	// (Frames.Copy). They are left as they are if they have another length.
	Places, NextPlaces []int
	// Obs and NextObs [O] are for a learner that sees numbers: Stack and Next are then empty.
	Obs, NextObs []float32
}

// NewFrames returns an empty memory for capacity frames of size bytes, of the given number of
// copies together. It panics if a number is not positive or capacity is less than copies.
func NewFrames(size, act, capacity, copies int) *Frames {
	if size < 1 || act < 1 || capacity < copies || copies < 1 {
		panic(fmt.Sprintf("replay: %d frames of %d bytes and %d actions in %d copies", capacity, size, act, copies))
	}
	f := &Frames{size: size, act: act, reels: make([]reel, copies)}
	for i := range f.reels {
		f.reels[i].number, f.reels[i].capacity = i, capacity/copies
	}
	return f
}

// Len is how many frames are held.
func (f *Frames) Len() (n int) {
	for i := range f.reels {
		n += len(f.reels[i].shots)
	}
	return n
}

// Begin adds the first frame of an episode of a copy.
func (f *Frames) Begin(copy int, frame []byte) {
	r := &f.reels[copy]
	r.add(f, frame, shot{First: r.total, Since: f.total})
}

// Add adds the action that followed the newest frame of a copy, its reward, and the next frame;
// ended says that the episode came to a true end there. It panics if no episode has begun.
func (f *Frames) Add(copy int, action []float32, reward float32, next []byte, ended bool) {
	r := &f.reels[copy]
	if r.total == 0 {
		panic("replay: an env step before the first frame")
	}
	r.follow(f, action, reward)
	r.add(f, next, shot{First: r.shots[r.slot(r.total-1)].First, Since: f.total, Ended: ended})
}

// Respawn notes that the agent of a copy was put where the newest frame shows it. It does nothing
// if the frame begins an episode or is a true end.
func (f *Frames) Respawn(copy int) {
	r := &f.reels[copy]
	if s := &r.shots[r.slot(r.total-1)]; s.First < r.total-1 && !s.Ended {
		s.Respawned = true
	}
}

// Newest writes the stack of a copy's newest frames, len(dst) of them.
func (f *Frames) Newest(copy int, dst [][]byte) {
	r := &f.reels[copy]
	r.stack(f, dst, nil, r.total-1)
}

// Latest writes the env step that led to the newest frame of a copy to dst. It panics if the newest
// frame is the first of its episode.
func (f *Frames) Latest(copy int, dst *FrameRow) {
	r := &f.reels[copy]
	if r.total < 2 || !r.shots[r.slot(r.total-2)].Acted {
		panic("replay: no env step gave the newest frame")
	}
	r.draw(f, dst, r.total-2, 1, 1)
}

func (r *reel) slot(frame uint64) int { return int(frame % uint64(r.capacity)) }

// follow records the action that followed the newest frame, and its reward.
func (r *reel) follow(f *Frames, action []float32, reward float32) {
	slot := r.slot(r.total - 1)
	r.shots[slot].Reward, r.shots[slot].Acted = reward, true
	copy(r.action(f, slot), action)
}

// action is the memory of a slot's action.
func (r *reel) action(f *Frames, slot int) []float32 {
	return r.actions[slot*f.act : (slot+1)*f.act : (slot+1)*f.act]
}

func (r *reel) add(f *Frames, frame []byte, s shot) {
	slot := r.slot(r.total)
	if slot == len(r.shots) {
		r.shots, r.actions = append(r.shots, shot{}), append(r.actions, make([]float32, f.act)...)
	}
	for len(r.chunks) <= slot/chunkFrames {
		r.chunks = append(r.chunks, make([]byte, min(chunkFrames, r.capacity-len(r.chunks)*chunkFrames)*f.size))
	}
	r.shots[slot] = s
	clear(r.action(f, slot))
	if copy(r.frame(f, slot), frame) != len(frame) || len(frame) != f.size {
		panic(fmt.Sprintf("replay: a frame of %d bytes, want %d", len(frame), f.size))
	}
	r.total++
	f.total++
}

// frame is the memory of a slot's frame.
func (r *reel) frame(f *Frames, slot int) []byte {
	at := slot % chunkFrames * f.size
	return r.chunks[slot/chunkFrames][at : at+f.size : at+f.size]
}

// oldest is the number of the first frame that is held.
func (r *reel) oldest() uint64 { return r.total - uint64(len(r.shots)) }

// stack writes the frames up to frame at, and their places if there are as many of these; the first
// frame of its episode is repeated if there are too few.
func (r *reel) stack(f *Frames, dst [][]byte, places []int, at uint64) {
	first := r.shots[r.slot(at)].First
	for i := range dst {
		frame, back := first, uint64(len(dst)-1-i)
		if at >= first+back {
			frame = at - back
		}
		dst[i] = r.frame(f, r.slot(frame))
		if len(places) == len(dst) {
			places[i] = r.place(f, r.slot(frame))
		}
	}
}

// window returns how many env steps the window from frame at on has: n, or fewer before a true end.
// It is 0 if some of them, or frames of the first stack, are not held.
func (r *reel) window(at uint64, n, stack int) int {
	s := r.shots[r.slot(at)]
	if back := at - min(uint64(stack-1), at); max(back, s.First) < r.oldest() {
		return 0
	}
	for i := range n {
		s := r.shots[r.slot(at+uint64(i))]
		switch {
		case i > 0 && s.Ended:
			return i
		case !s.Acted:
			return 0
		}
	}
	return n
}

// respawned reports whether the agent was put elsewhere in one of that many env steps from frame at
// on.
func (r *reel) respawned(at uint64, steps int) bool {
	for i := range steps {
		if r.shots[r.slot(at+uint64(i)+1)].Respawned {
			return true
		}
	}
	return false
}

// A FrameSampler draws rows of batches from frames, uniformly and with replacement. What a row gets
// is a function of the occasion, the row, and the number of frames.
type FrameSampler struct {
	Frames *Frames
	Stream rng.Stream
	led    bool // env steps that put the agent elsewhere are drawn again
}

// WithoutRespawns returns s that draws other env steps in place of those that put the agent
// elsewhere. It is for models that learn what actions lead to.
func (s FrameSampler) WithoutRespawns() FrameSampler {
	s.led = true
	return s
}

// tries is how many frames are drawn for a row before Draw gives up: only the frames near an
// episode's end cannot begin a window.
const tries = 1 << 16

// Draw writes row number row of the batch of an occasion to dst: n consecutive env steps of one
// episode, or fewer before a true end. It allocates nothing, and several goroutines may call it at
// once.
func (s FrameSampler) Draw(dst *FrameRow, n int, gamma float64, occasion uint64, row int) error {
	held := s.Frames.Len()
	for try := range uint64(tries) {
		if held == 0 {
			break
		}
		words := s.Stream.Block(occasion, uint64(row)*tries+try)
		r, at := s.Frames.at(int((uint64(words[0])<<32 | uint64(words[1])) % uint64(held)))
		if steps := r.window(at, n, len(dst.Stack)); steps > 0 && !(s.led && try < mostDraws && r.respawned(at, steps)) {
			r.draw(s.Frames, dst, at, steps, gamma)
			return nil
		}
	}
	return fmt.Errorf("sample frames: there are no %d env steps in a row among %d frames", n, held)
}

// at returns the i-th of the frames that are held: its reel, and its number there.
func (f *Frames) at(i int) (*reel, uint64) {
	for k := range f.reels {
		r := &f.reels[k]
		if i < len(r.shots) {
			return r, r.oldest() + uint64(i)
		}
		i -= len(r.shots)
	}
	panic("replay: frame outside of those held")
}

// draw writes that many env steps from frame at on to dst.
func (r *reel) draw(f *Frames, dst *FrameRow, at uint64, steps int, gamma float64) {
	slot := r.slot(at)
	dst.Action = r.action(f, slot)
	sum, weight := 0.0, 1.0
	for i := range steps {
		sum += weight * float64(r.shots[r.slot(at+uint64(i))].Reward)
		weight *= gamma
	}
	last := at + uint64(steps)
	if r.shots[r.slot(last)].Ended {
		weight = 0
	}
	dst.Return, dst.Discount, dst.Respawned = float32(sum), float32(weight), r.respawned(at, steps)
	r.stack(f, dst.Stack, dst.Places, at)
	r.stack(f, dst.Next, dst.NextPlaces, last)
}
