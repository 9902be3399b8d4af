package cpu

import (
	"pgrlab/core/device"
)

// split says how a stage's shares divide a buffer.
type split struct {
	by    splitBy
	n     int
	grain int // of the parts of lanes; 0: each lane has one part
}

type splitBy int

const (
	byRows     splitBy = iota // lane l owns rows n·l/L to n·(l+1)/L of each member
	byElements                // lane l owns elements elementRange(n,l)
	byColumns                 // lane l owns columns columnRange(n,l) of every row
	byBands                   // lane l owns rows columnRange(n,l)
	byMembers                 // lane l owns members rowRange(n,l)
	byLane                    // each lane has its own copy
	byFirst                   // only lane 0 touches it
	whole                     // any lane touches all of it
)

// private reports whether lanes that divide a buffer in the same way touch separate parts of it.
func (s split) private() bool { return s.by != whole }

// access is one use of a buffer by a stage.
type access struct {
	buf   int
	split split
	write bool
}

// stage is work that the workers do share by share.
type stage struct {
	name  string
	run   func(share)
	uses  []access
	flops int
	instr int // the instruction that it belongs to; −1: none
	// member does the work of run for one of the stage's members (members of an ensemble, or images
	// of a batch); nil if a stage does not go one by one. prepare, which may be nil, is called
	// before a share's first member and reads nothing that others write.
	member  func(s share, e int)
	prepare func(share)
	members int
	grain   int // of the parts of a lane's members; 0: each lane has one part
}

// ofLanes turns work that only whole lanes do into a stage's function.
func ofLanes(run func(lane int)) func(share) {
	return func(s share) {
		if s.first() {
			run(s.lane)
		}
	}
}

// scheduler arranges stages into segments: sequences of stages between barriers.
type scheduler struct {
	segments [][]stage
	// since holds the accesses since the last barrier.
	since map[int][]access
	// late holds stages whose result has not been read yet (sums of losses); they wait for a
	// barrier that is needed anyway.
	late []stage
	// instr is the instruction whose stages are being added.
	instr int
	// memory gives the buffer whose memory a buffer uses, if it is another's.
	memory map[int]int
}

func newScheduler() *scheduler {
	return &scheduler{segments: [][]stage{nil}, since: map[int][]access{}, memory: map[int]int{}, instr: -1}
}

// add appends a stage, preceded by a barrier if it needs one.
func (s *scheduler) add(st stage) {
	st.instr = s.instr
	for _, waiting := range s.late {
		if s.touches(st, waiting) {
			s.flush()
			break
		}
	}
	s.place(st)
}

// postpone holds a stage back until the next barrier or until its result is used.
func (s *scheduler) postpone(st stage) {
	st.instr = s.instr
	s.late = append(s.late, st)
}

// cut puts a barrier after everything added so far and returns the index of the segment that
// follows it.
func (s *scheduler) cut() int {
	s.flush()
	s.segments = append(s.segments, nil)
	clear(s.since)
	return len(s.segments) - 1
}

// flush places the stages that were held back.
func (s *scheduler) flush() {
	late := s.late
	s.late = nil
	for _, st := range late {
		s.place(st)
	}
}

func (s *scheduler) place(st stage) {
	if s.conflicts(st) {
		s.segments = append(s.segments, nil)
		clear(s.since)
		s.flush()
		if s.conflicts(st) { // with something that was just flushed
			s.segments = append(s.segments, nil)
			clear(s.since)
		}
	}
	last := len(s.segments) - 1
	s.segments[last] = append(s.segments[last], st)
	for _, a := range st.uses {
		at := s.at(a.buf)
		s.since[at] = append(s.since[at], a)
	}
}

// conflicts reports whether a lane would touch what another lane touched since the last barrier,
// with at least one of them writing.
func (s *scheduler) conflicts(st stage) bool {
	for _, a := range st.uses {
		for _, b := range s.since[s.at(a.buf)] {
			if (a.write || b.write) && !(a.split == b.split && a.split.private()) {
				return true
			}
		}
	}
	return false
}

// at returns the buffer whose memory a buffer uses.
func (s *scheduler) at(buf int) int {
	if owner, shared := s.memory[buf]; shared {
		return owner
	}
	return buf
}

// touches reports whether two stages share a buffer that one of them writes.
func (s *scheduler) touches(a, b stage) bool {
	for _, x := range a.uses {
		for _, y := range b.uses {
			if s.at(x.buf) == s.at(y.buf) && (x.write || y.write) {
				return true
			}
		}
	}
	return false
}

// rowRange is the part of n rows that a lane owns.
func rowRange(n, lane int) (lo, hi int) {
	return n * lane / Lanes, n * (lane + 1) / Lanes
}

// elementRange is the part of n elements that a lane owns, cut at cache lines.
func elementRange(n, lane int) (lo, hi int) {
	cut := func(lane int) int {
		if lane == Lanes {
			return n
		}
		return n * lane / Lanes &^ 15
	}
	return cut(lane), cut(lane + 1)
}

// columnRange is the part of n columns that a lane owns. It is cut at a strip boundary of products,
// the one nearest the middle, because an incomplete strip takes as long as a complete one.
func columnRange(n, lane int) (lo, hi int) {
	cut := func(lane int) int {
		if lane == Lanes {
			return n
		}
		return min(n, (n*lane/Lanes+16)&^31)
	}
	return cut(lane), cut(lane + 1)
}

// buf converts a program's reference to the scheduler's numbering, in which scratch memory follows
// the program's buffers.
func buf(r device.Ref) int { return int(r) }
