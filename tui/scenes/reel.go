package scenes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
)

// Reel is the scenes of a run, in the order of time. A nil Reel has none.
type Reel struct {
	all    []Scene
	dreamt []*event.Dreamt // by scene: the newest of it and of those before
	mapped []*event.Mapped
}

// longest is how many bytes a scene may have: some times as many as 32 dreams of the largest task.
const longest = 4 << 20

// Read reads scenes. A line that was cut, by a kill or a full disk, is left out. Where time goes back
// the run went on from a checkpoint, and what it did after that the first time is left out. It is an
// error if there are lines and none is a scene.
func Read(from io.Reader) (*Reel, error) {
	r := &Reel{}
	var dreamt *event.Dreamt
	var mapped *event.Mapped
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longest)
	var failed error
	for lines.Scan() {
		var x Scene
		err := json.Unmarshal(lines.Bytes(), &x)
		if err == nil && (x.Phase < 0 || knob.Phase(x.Phase) >= knob.Phases || !(x.Wall >= 0) || math.IsInf(float64(x.Wall), 0)) {
			err = fmt.Errorf("phase %d at %g s cannot be", x.Phase, x.Wall)
		}
		if err != nil {
			if len(lines.Bytes()) > 0 {
				failed = err
			}
			continue
		}
		for k := len(r.all) - 1; k >= 0 && r.all[k].Wall > x.Wall; k-- {
			r.all, r.dreamt, r.mapped = r.all[:k], r.dreamt[:k], r.mapped[:k]
		}
		if x.Dreamt != nil {
			dreamt = x.Dreamt.shown()
		}
		if x.Map != nil {
			mapped = x.Map.shown()
		}
		x.Dreamt, x.Map = nil, nil
		r.all, r.dreamt, r.mapped = append(r.all, x), append(r.dreamt, dreamt), append(r.mapped, mapped)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(r.all) == 0 && failed != nil {
		return nil, failed
	}
	return r, nil
}

// outdated is how long a scene is shown. Where the next one is further away the run had no recorder.
const outdated = 5 * time.Second

// passed is how long a scene is shown after the journal has come to a later step.
func passed(scene time.Duration) time.Duration { return 2 * between(scene) }

// At puts the scene at a time after the first event into the snapshot of a replay, whose journal has come
// to step, if there is one of then.
func (r *Reel) At(at time.Duration, step int, s *event.Snapshot) {
	if i := r.before(at); i >= 0 && at-r.time(i) <= outdated && (r.all[i].Step >= step || at-r.time(i) <= passed(r.time(i))) {
		r.show(i, step, s)
	}
}

// End puts the last scene into the snapshot of a replay that stands at the end of its journal. A resumed
// run's clock may differ by some milliseconds from its journal's.
func (r *Reel) End(step int, s *event.Snapshot) {
	if r != nil && len(r.all) > 0 && r.all[len(r.all)-1].Step >= step {
		r.show(len(r.all)-1, step, s)
	}
}

func (r *Reel) show(i, step int, s *event.Snapshot) {
	r.all[i].Show(s)
	s.Step, s.Dreamt, s.Map = max(step, r.all[i].Step), r.dreamt[i], r.mapped[i]
}

// before is the index of the last scene at or before a time; -1: there is none.
func (r *Reel) before(at time.Duration) int {
	if r == nil {
		return -1
	}
	return sort.Search(len(r.all), func(i int) bool { return r.time(i) > at }) - 1
}

func (r *Reel) time(i int) time.Duration {
	return time.Duration(float64(r.all[i].Wall) * float64(time.Second))
}

// Next is the middle of the first time after at that the run is in a phase, or of the first one of all
// if there is none after at.
func (r *Reel) Next(p knob.Phase, at time.Duration) (time.Duration, bool) {
	if r == nil {
		return 0, false
	}
	first := time.Duration(-1)
	for i := 0; i < len(r.all); {
		end := i + 1
		for end < len(r.all) && r.all[end].Phase == r.all[i].Phase {
			end++
		}
		if knob.Phase(r.all[i].Phase) == p {
			if middle := r.time((i + end - 1) / 2); r.time(i) > at {
				return middle, true
			} else if first < 0 {
				first = middle
			}
		}
		i = end
	}
	return first, first >= 0
}
