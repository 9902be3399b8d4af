package experience

import (
	"fmt"
	"math"
	"sort"

	"pgrlab/core/replay"
)

// Look is what a copy of the environment shows: numbers [O], or the bytes of a frame.
type Look struct {
	Numbers []float32
	Frame   []byte
}

// Ref names a look: the number-th of a copy, counted from the run's beginning.
type Ref struct {
	Copy   int32
	Number uint64
}

// Before names the look before r of the same copy.
func (r Ref) Before() Ref { return Ref{r.Copy, r.Number - 1} }

// Shape describes the looks and actions of a Log. One of Numbers and Bytes is 0.
type Shape struct {
	Numbers, Bytes int // of a look
	Act            int // numbers of an action
	Copies         int // of the environment
}

// Keep says how much a Log holds.
type Keep struct {
	Looks int // of all copies together
	// Steps is how many env steps are held at least, even if episodes are so short that they have
	// more looks than that; 0: the log has no columns of env steps.
	Steps int
}

// Log keeps the newest looks of an environment's copies, each once, with the action that followed
// it. Stacks of frames, and windows of several env steps, are put together by the looks' numbers.
// Memory is allocated in chunks as looks arrive. A Log belongs to one goroutine while it is written
// to.
type Log struct {
	shape  Shape
	keep   Keep
	total  uint64 // looks ever added
	clears uint64 // how often looks were moved or forgotten
	reels  []reel // of each copy
	pins   map[Ref]pin
}

// Step is an env step of a copy.
type Step struct {
	Action    []float32
	Reward    float32 // the task's own
	Next      Look    // before any reset
	End       End
	Respawned bool    // the environment put the agent elsewhere
	F         float32 // relevance that was computed as the step was met: see replay.Note
}

// End is the state of a copy's episode after an env step. A time limit is no true end: the
// value of the state after it counts.
type End int

// The ends.
const (
	Continues End = iota
	Terminated
	Truncated
)

// Met is an env step as a Log has it.
type Met struct {
	After            Ref // names the look that it led to
	Seen, Next       Look
	Action           []float32
	Earned, Observed float32 // the task's reward, and the reward with a bonus
	End              End
	Note             replay.Note
}

// arrival is what is known of the env step that led to a look, or that follows an episode's first
// look.
type arrival struct {
	Step        uint64 // env steps of the copy before it
	Observed, F float32
	End         uint8 // an End
	Respawned   bool
}

// NewLog returns an empty log. It panics if a size is not positive or there is no room for a look of
// each copy.
func NewLog(s Shape, k Keep) *Log {
	if s.Numbers < 0 || s.Bytes < 0 || (s.Numbers == 0) == (s.Bytes == 0) || s.Act < 1 || s.Copies < 1 || k.Looks < s.Copies || k.Steps > 0 && k.Looks < 2*s.Copies {
		panic(fmt.Sprintf("experience: no log has looks of %+v and keeps %+v", s, k))
	}
	l := &Log{shape: s, keep: k, reels: make([]reel, s.Copies), pins: map[Ref]pin{}}
	for i := range l.reels {
		l.reels[i].number, l.reels[i].capacity = i, l.room()
	}
	return l
}

// room is how many looks of a copy are held, if the last env steps have no more.
func (l *Log) room() int { return l.keep.Looks / l.shape.Copies }

// Shape returns the sizes of looks and actions.
func (l *Log) Shape() Shape { return l.shape }

// Kept returns how much the log holds.
func (l *Log) Kept() Keep { return l.keep }

// Keep makes the log hold at least that much from now on, for a reader that comes later. It panics if
// the log has looks already, but no columns of the env steps that it is to hold.
func (l *Log) Keep(k Keep) {
	if l.keep.Steps == 0 && k.Steps > 0 && l.total > 0 {
		panic("experience: the log has no columns of the env steps that it is to hold")
	}
	l.keep = Keep{max(l.keep.Looks, k.Looks), max(l.keep.Steps, k.Steps)}
	for i := range l.reels {
		if r := &l.reels[i]; r.total == 0 {
			r.capacity = max(r.capacity, l.room())
		} else if r.capacity < l.room() {
			r.grow(l, l.room())
		}
	}
}

// Len is how many looks are held, without those that are only pinned.
func (l *Log) Len() (n int) {
	for i := range l.reels {
		n += l.reels[i].held()
	}
	return n
}

// Steps is how many env steps all copies have made.
func (l *Log) Steps() uint64 {
	n := uint64(math.MaxUint64)
	for i := range l.reels {
		n = min(n, l.reels[i].steps)
	}
	return n
}

// Begin adds the first look of an episode of a copy.
func (l *Log) Begin(copy int, first Look) {
	r := &l.reels[copy]
	r.add(l, first, shot{First: r.total, Since: l.total}, arrival{Step: r.steps})
}

// Add adds an env step of a copy. It panics if no episode has begun.
func (l *Log) Add(copy int, s Step) {
	r := &l.reels[copy]
	if r.total == 0 {
		panic("experience: an env step before the first look")
	}
	r.follow(l, s.Action, s.Reward)
	next := shot{First: r.shots[r.slot(r.total-1)].First, Since: l.total, Ended: s.End == Terminated}
	next.Respawned = s.Respawned && next.First < r.total && !next.Ended
	r.add(l, s.Next, next, arrival{Step: r.steps, Observed: s.Reward, F: s.F, End: uint8(s.End), Respawned: s.Respawned})
	r.steps++
}

// SetRewards sets the rewards [copies] of the newest env step as the learner observes them. It is
// called before the next episodes begin.
func (l *Log) SetRewards(rewards []float32) {
	for i := range l.reels {
		if r := &l.reels[i]; l.keep.Steps > 0 {
			r.arrivals[r.slot(r.total-1)].Observed = rewards[i]
		}
	}
}

// Newest writes the stack of a copy's newest frames, len(dst) of them.
func (l *Log) Newest(copy int, dst [][]byte) {
	r := &l.reels[copy]
	r.stack(l, dst, nil, r.total-1)
}

// Latest writes the env step that led to the newest frame of a copy to dst. It panics if the newest
// frame is the first of its episode.
func (l *Log) Latest(copy int, dst *replay.FrameRow) {
	r := &l.reels[copy]
	if r.total < 2 || !r.shots[r.slot(r.total-2)].Acted {
		panic("experience: no env step gave the newest frame")
	}
	r.draw(l, dst, r.total-2, 1, 1)
}

// Last names the newest look of a copy.
func (l *Log) Last(copy int) Ref { return Ref{int32(copy), l.reels[copy].total - 1} }

// Holds says whether the env steps from that number on are held, of all copies.
func (l *Log) Holds(step uint64) bool {
	for i := range l.reels {
		if r := &l.reels[i]; step < r.steps {
			after := l.After(step, i)
			if a, held := l.at(after); !held || a.arrival.Step != step || after.Number == r.first {
				return false
			}
		}
	}
	return true
}

// Look returns a look; false: it is forgotten, or there was none.
func (l *Log) Look(r Ref) (Look, bool) {
	k, held := l.at(r)
	return k.look, held
}

// After names the look that env step number step, from 0 on, of a copy led to. It is undefined unless
// that look is held.
func (l *Log) After(step uint64, copy int) Ref {
	r := &l.reels[copy]
	stepAt := func(look uint64) uint64 { return r.arrivals[r.slot(look)].Step }
	// As many looks before the newest one as there are env steps between, but for the first looks of
	// the episodes since.
	look := r.total - 1
	look -= min(look-r.first, stepAt(look)-min(step, stepAt(look)))
	for tries := 0; look > r.first && stepAt(look) > step; tries++ {
		if look--; tries == nearEpisodes {
			look = r.first + uint64(sort.Search(int(look-r.first)+1, func(i int) bool { return stepAt(r.first+uint64(i)) > step })) - 1
		}
	}
	return Ref{int32(copy), look}
}

// nearEpisodes is how many episodes' beginnings After steps over before it searches.
const nearEpisodes = 4

// Met returns the env step that led to a look; false: it is forgotten, or the look begins an episode.
// The memory is the log's.
func (l *Log) Met(after Ref) (m Met, held bool) {
	a, held := l.at(after)
	if !held || a.shot.First >= after.Number {
		return m, false
	}
	b, held := l.at(after.Before())
	if !held {
		return m, false
	}
	return Met{
		After: after, Seen: b.look, Next: a.look, Action: b.action, Earned: b.shot.Reward, Observed: a.arrival.Observed, End: End(a.arrival.End),
		Note: replay.Note{Met: true, Respawned: a.arrival.Respawned, F: a.arrival.F},
	}, true
}

// Cut says whether the episode of an env step went no further although the step did not end it: the copy's next
// look begins another one, because the episode was lost.
func (l *Log) Cut(after Ref) bool {
	next := Ref{after.Copy, after.Number + 1}
	k, held := l.at(next)
	return held && k.shot.First == next.Number
}
