package experience

import (
	"fmt"

	"pgrlab/core/replay"
)

// chunkLooks is how many looks the memory of a reel grows by.
const chunkLooks = 256

// reel holds the newest looks of one copy: those from first up to total.
type reel struct {
	number       int // among the reels
	capacity     int
	first, total uint64
	steps        uint64 // env steps ever added
	shots        []shot // by slots
	arrivals     []arrival
	actions      []float32   // [len(shots),A]
	frames       [][]byte    // chunks of looks
	numbers      [][]float32 // the same
}

// shot is what is known about a look.
type shot struct {
	First  uint64  // number of its episode's first look
	Since  uint64  // looks that had been added before it, of all copies
	Reward float32 // of the action that followed it
	Acted  bool    // an action followed it: false for the last look of an episode, and for the newest
	Ended  bool    // the episode came to a true end with it
	// Respawned says that the environment put the agent where the look shows it: no action led there.
	// It is never set for a true end.
	Respawned bool
}

func (r *reel) held() int { return int(r.total - r.first) }

func (r *reel) slot(look uint64) int { return int(look % uint64(r.capacity)) }

// follow records the action that followed the newest look, and its reward.
func (r *reel) follow(l *Log, action []float32, reward float32) {
	slot := r.slot(r.total - 1)
	r.shots[slot].Reward, r.shots[slot].Acted = reward, true
	copy(r.action(l, slot), action)
}

// action is the memory of a slot's action.
func (r *reel) action(l *Log, slot int) []float32 {
	a := l.shape.Act
	return r.actions[slot*a : (slot+1)*a : (slot+1)*a]
}

func (r *reel) add(l *Log, look Look, s shot, a arrival) {
	if len(look.Frame) != l.shape.Bytes || len(look.Numbers) != l.shape.Numbers {
		panic(fmt.Sprintf("experience: a look of %d bytes and %d numbers, want %d and %d", len(look.Frame), len(look.Numbers), l.shape.Bytes, l.shape.Numbers))
	}
	if r.held() == r.capacity {
		steps := a.Step
		if s.First < r.total {
			steps++
		}
		if l.needs(r, steps) {
			r.grow(l, 2*r.capacity)
		} else {
			l.rescue(r)
			r.first++
		}
	}
	slot := r.slot(r.total)
	if slot == len(r.shots) {
		r.shots, r.actions = append(r.shots, shot{}), append(r.actions, make([]float32, l.shape.Act)...)
		if l.keep.Steps > 0 {
			r.arrivals = append(r.arrivals, arrival{})
		}
	}
	r.reach(l, slot)
	r.shots[slot] = s
	if l.keep.Steps > 0 {
		r.arrivals[slot] = a
	}
	clear(r.action(l, slot))
	to := r.look(l, slot)
	copy(to.Frame, look.Frame)
	copy(to.Numbers, look.Numbers)
	r.total++
	l.total++
}

// reach makes sure that a slot has memory.
func (r *reel) reach(l *Log, slot int) {
	for len(r.frames) <= slot/chunkLooks {
		looks := min(chunkLooks, r.capacity-len(r.frames)*chunkLooks)
		r.frames = append(r.frames, make([]byte, looks*l.shape.Bytes))
		r.numbers = append(r.numbers, make([]float32, looks*l.shape.Numbers))
	}
}

// needs says whether the oldest look of a reel is of one of the env steps that are to be held when
// there are so many.
func (l *Log) needs(r *reel, steps uint64) bool {
	return l.keep.Steps > 0 && r.arrivals[r.slot(r.first+1)].Step+uint64(l.keep.Steps) >= steps
}

// grow makes room for that many looks.
func (r *reel) grow(l *Log, capacity int) {
	old := *r
	r.startAt(l, capacity, old.first)
	r.allot(l)
	l.clears++
	for ; r.total < old.total; r.total++ {
		from, to := old.slot(r.total), r.slot(r.total)
		r.reach(l, to)
		r.shots[to] = old.shots[from]
		if l.keep.Steps > 0 {
			r.arrivals[to] = old.arrivals[from]
		}
		copy(r.action(l, to), old.action(l, from))
		a, b := old.look(l, from), r.look(l, to)
		copy(b.Frame, a.Frame)
		copy(b.Numbers, a.Numbers)
	}
	r.steps = old.steps
}

// startAt empties the reel and makes first the number of its next look. If there were looks before
// it, its oldest look is in the middle of the memory, whose slots are otherwise made from the front.
func (r *reel) startAt(l *Log, capacity int, first uint64) {
	*r = reel{number: r.number, capacity: capacity, first: first, total: first}
	if first > 0 {
		r.allot(l)
	}
}

// allot makes all slots now.
func (r *reel) allot(l *Log) {
	r.shots, r.actions = make([]shot, r.capacity), make([]float32, r.capacity*l.shape.Act)
	if l.keep.Steps > 0 {
		r.arrivals = make([]arrival, r.capacity)
	}
}

// frame is the memory of a slot's frame.
func (r *reel) frame(l *Log, slot int) []byte {
	size := l.shape.Bytes
	at := slot % chunkLooks * size
	return r.frames[slot/chunkLooks][at : at+size : at+size]
}

// look is the memory of a slot's look.
func (r *reel) look(l *Log, slot int) Look {
	if l.shape.Bytes > 0 {
		return Look{Frame: r.frame(l, slot)}
	}
	size := l.shape.Numbers
	at := slot % chunkLooks * size
	return Look{Numbers: r.numbers[slot/chunkLooks][at : at+size : at+size]}
}

// stack writes the frames up to frame at, and their places if there are as many of these; the first
// frame of its episode is repeated if there are too few.
func (r *reel) stack(l *Log, dst [][]byte, places []int, at uint64) {
	first := r.shots[r.slot(at)].First
	for i := range dst {
		frame, back := first, uint64(len(dst)-1-i)
		if at >= first+back {
			frame = at - back
		}
		dst[i] = r.frame(l, r.slot(frame))
		if len(places) == len(dst) {
			places[i] = r.place(l, r.slot(frame))
		}
	}
}

// window returns how many env steps the window from frame at on has: n, or fewer before a true end.
// It is 0 if some of them are not held, or frames of the first stack are older than oldest.
func (r *reel) window(at, oldest uint64, n, stack int) int {
	s := r.shots[r.slot(at)]
	if back := at - min(uint64(stack-1), at); max(back, s.First) < oldest {
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

// draw writes that many env steps from frame at on to dst.
func (r *reel) draw(l *Log, dst *replay.FrameRow, at uint64, steps int, gamma float64) {
	slot := r.slot(at)
	dst.Action = r.action(l, slot)
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
	r.stack(l, dst.Stack, dst.Places, at)
	r.stack(l, dst.Next, dst.NextPlaces, last)
}
