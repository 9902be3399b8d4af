package taskfile

import (
	"regexp"
	"slices"
	"strconv"
	"sync"

	"pgrlab/core/formula"
)

// number is one number of an array.
type number struct {
	array string
	at    int
}

// plainQuantity matches the canonical text of a formula that is a quantity, or elements of one.
var plainQuantity = regexp.MustCompile(`^(\w+)(?:\("([^"]*)"\))?(?:\[(?:(\d+)|(\d*):\d*|"([^"]*)")\])?$`)

// clipped matches the canonical text of what is shown between two bounds.
var clipped = regexp.MustCompile(`^clip\((.*), [^,()]*, [^,()]*\)$`)

// shown are the numbers that an observation contains as they are, or up to bounds, and their places
// in it.
func (f *File) shown() map[number]int {
	all := map[number]int{}
	place := 0
	for i, p := range f.observe {
		n := max(1, p.Width())
		read, err := formula.Parse(f.document.Observe[i])
		if err != nil {
			return nil // it was read before
		}
		if m := plainQuantity.FindStringSubmatch(clipped.ReplaceAllString(read.String(), "$1")); m != nil {
			if q, err := f.words.Quantity(m[1], m[2]); err == nil {
				from, _ := strconv.Atoi(m[3] + m[4]) // nothing is 0
				if m[5] != "" {
					from = slices.Index(q.Elements, m[5])
				}
				s := f.words.sources[q.Slot]
				for k := range n {
					all[number{s.array, s.from + from + k}] = place + k
				}
			}
		}
		place += n
	}
	return all
}

// ends says whether a transition ends an episode, by the observation that it leads to; nil if it does
// not show all that the condition asks for. It may be called from several goroutines.
func (f *File) ends() func(obs, act, next []float32) bool {
	if f.terminate == nil {
		return nil
	}
	shown := f.shown()
	pool := sync.Pool{New: func() any {
		v := &seen{task: f, shown: shown}
		v.machine = f.terminate.Machine(v, 1)
		return v
	}}
	ends := func(next []float32) (over, known bool) {
		v := pool.Get().(*seen)
		defer pool.Put(v)
		v.next, v.hidden = next, false
		return v.machine.Truth(), !v.hidden
	}
	if _, known := ends(make([]float32, maxObs)); !known {
		return nil
	}
	return func(_, _, next []float32) bool {
		over, _ := ends(next)
		return over
	}
}

// seen gives a formula the numbers of an observation.
type seen struct {
	task    *File
	machine *formula.Machine
	shown   map[number]int
	next    []float32
	hidden  bool // a number was asked for that the observation lacks
}

// Read is of formula.Values.
func (v *seen) Read(dst []float64, slot, element, _, _ int) {
	s := v.task.words.sources[slot]
	for i := range dst {
		at := s.from + element + i
		place, is := v.shown[number{s.array, at}]
		switch {
		case s.array == reference:
			dst[i] = v.task.qpos0[at]
		case s.array == clock && at == clockDt:
			dst[i] = v.task.dt
		case !is || s.previous:
			v.hidden = true
		default:
			dst[i] = float64(v.next[place])
		}
	}
}
