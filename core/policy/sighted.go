package policy

import "slices"

// Sighted is a Policy that acts on the frames it was given to see, not on observations.
type Sighted interface {
	Policy
	Side() int // of a frame, in pixels
	// See takes the frame [Side,Side,3] for the next Act. The first frame after Begin stands for
	// those before it as well.
	See(frame []byte)
	// Seen returns the frames that the policy acts on, the oldest first; none before the first
	// See.
	Seen() [][]byte
}

// sightedPolicy is a learnedPolicy whose learner sees frames.
type sightedPolicy struct {
	learnedPolicy
	side   int
	frames [][]byte // as many as a stack has
	seen   int      // frames seen in the episode
}

func newSighted(p learnedPolicy, side, stack int) *sightedPolicy {
	s := &sightedPolicy{learnedPolicy: p, side: side, frames: make([][]byte, stack)}
	s.acting.Stacks = [][][]byte{s.frames}
	return s
}

func (s *sightedPolicy) Side() int { return s.side }

func (s *sightedPolicy) Begin() {
	s.learnedPolicy.Begin()
	s.seen = 0
}

func (s *sightedPolicy) See(frame []byte) {
	if s.seen == 0 {
		for i := range s.frames {
			s.frames[i] = slices.Clone(frame)
		}
	}
	s.seen++
	oldest := s.frames[0]
	copy(s.frames, s.frames[1:])
	s.frames[len(s.frames)-1] = append(oldest[:0], frame...)
}

func (s *sightedPolicy) Seen() [][]byte {
	if s.seen == 0 {
		return nil
	}
	return s.frames
}
