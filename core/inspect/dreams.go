package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
)

const (
	sortedDreams = 256 // rows of D_syn that are sorted
	usualRows    = 15  // real rows whose nearest other row is searched
	// searchedNumbers is how many numbers of real latents one Look compares, which takes some
	// milliseconds. A Look serves at least one row, and several if there are few real rows.
	searchedNumbers = 4 << 20
)

// Dreams finds, for rows of D_syn, the real frames whose latents are nearest to theirs, or, for
// rows of states, what the task makes of their s and a. The results hold until D_syn is made again or F changes; each Look continues the search by a
// bounded amount of work.
type Dreams struct {
	Frames relevance.Frames // the frames that D_real is made from; Side is 0 if it is of states

	syn       *replay.Ring // that was sorted
	made, had uint64       // its generation, and syn.Total() at that time
	relevance string
	slots     []int               // of D_syn, sorted
	f         []float64           // F of each slot, of the kind that answer.Order says
	found     map[int]event.Dream // by rank
	usual     []float32
	scale     analysis.Reference // of D_real as it was when the rows were sorted, for rows of states
	answer    event.Dreamt       // without rows
	last      *event.Dreamt
}

// Look continues the search, which ends when n rows are found, and returns the results so
// far. D_real must be the one from which D_syn was generated.
func (d *Dreams) Look(v View, n int) (*event.Dreamt, error) {
	if v.Syn == nil || v.Syn.Len() == 0 || v.Real.Len() == 0 {
		return nil, errors.New("no synthetic rows yet")
	}
	if d.found == nil || v.Syn != d.syn || v.Syn.Total() != d.had || v.Prompts.Occasion != d.made || v.F.Name() != d.relevance {
		if err := d.sort(v); err != nil {
			return nil, err
		}
	}
	size := v.Real.Shape().Obs
	if d.Frames.Side == 0 {
		size = 0 // nothing is searched
	}
	budget, ranks, left := searchedNumbers, d.ranks(min(n, event.MostDreams)), 0
	for _, rank := range ranks {
		if _, is := d.found[rank]; is {
			continue
		}
		if budget <= 0 {
			left++
			continue
		}
		budget -= 2 * size * v.Real.Len()
		row, err := d.dream(v, rank)
		if err != nil {
			return nil, err
		}
		d.found[rank] = row
	}
	for ; size > 0 && budget > 0 && len(d.usual) < min(usualRows, v.Real.Len()-1); budget -= size * v.Real.Len() {
		slot := len(d.usual) * v.Real.Len() / usualRows
		_, distance := nearestLatent(v.Real, 0, v.Real.Row(slot)[:size], slot)
		d.usual = append(d.usual, float32(distance))
	}
	if budget == searchedNumbers && d.last != nil && len(d.last.Rows) == len(ranks) {
		return d.last, nil
	}
	out := d.answer
	out.Left = left
	if len(d.usual) == min(usualRows, v.Real.Len()-1) && len(d.usual) > 0 {
		out.Usual = analysis.Summarise(d.usual).Median
	}
	for _, rank := range ranks {
		if row, is := d.found[rank]; is {
			out.Rows = append(out.Rows, row)
		}
	}
	d.last = &out
	return d.last, nil
}

// sort takes rows of D_syn and sorts them by falling F.
func (d *Dreams) sort(v View) error {
	d.made, d.syn, d.had, d.relevance = v.Prompts.Occasion, v.Syn, v.Syn.Total(), v.F.Name()
	d.found, d.usual, d.last = map[int]event.Dream{}, nil, nil
	d.answer = event.Dreamt{Step: v.Step, Order: event.DreamsByReturn, Relevance: d.relevance, Real: v.Real.Len(), Usual: math.NaN(), Side: d.Frames.Side, Mixed: v.Mixed}
	slots := v.Syn.Spread(sortedDreams)
	shape := v.Syn.Shape()
	by, err := d.scores(v, &slots)
	if err != nil {
		return fmt.Errorf("sort D_syn: %w", err)
	}
	if by == nil {
		for _, slot := range slots {
			by = append(by, v.Syn.Row(slot)[shape.Obs+shape.Act])
		}
	}
	order := make([]int, len(slots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by[b], by[a]) })
	d.slots, d.f = nil, nil
	for _, i := range order {
		f := float64(by[i])
		if d.answer.Order == event.DreamsByReturn {
			f = math.NaN()
		}
		d.slots, d.f = append(d.slots, slots[i]), append(d.f, f)
	}
	d.answer.Looked = len(d.slots)
	if d.Frames.Side == 0 {
		d.scale = v.scale()
	}
	return nil
}

// scores returns F of rows of D_syn. If F has no value for generated rows, it returns the
// scores of their prompts and changes slots to the first rows. It is nil if neither is known.
func (d *Dreams) scores(v View, slots *[]int) ([]float32, error) {
	if v.F.Name() == none || !v.Learned {
		return nil, nil
	}
	by, err := v.scoresOf(v.F, v.Syn, *slots)
	if err != nil || by != nil {
		d.answer.Order = event.DreamsByF
		return by, err
	}
	if v.Gen == nil || !v.Prompts.Known || !v.Prompts.areOf(v.F.Name()) {
		return nil, nil
	}
	asked := v.Gen.PromptScores(v.Prompts.Knobs, v.Prompts.Occasion, len(*slots))
	if asked == nil {
		return nil, nil
	}
	for i := range *slots {
		(*slots)[i] = i
	}
	d.answer.Order = event.DreamsByAsked
	return asked, nil
}

// ranks returns n places among the sorted rows: the first, the last, and others evenly
// between them.
func (d *Dreams) ranks(n int) []int {
	n = min(n, len(d.slots))
	ranks := make([]int, max(0, n))
	for i := range ranks {
		ranks[i] = i * (len(d.slots) - 1) / max(1, n-1)
	}
	return ranks
}

// dream finds the frames nearest to the row at a rank, or what the task makes of it.
func (d *Dreams) dream(v View, rank int) (event.Dream, error) {
	shape, row := v.Syn.Shape(), v.Syn.Row(d.slots[rank])
	next := shape.Obs + shape.Act + 1
	out := event.Dream{Rank: rank, F: d.f[rank], Return: float64(row[next-1])}
	if d.Frames.Side == 0 {
		var err error
		out.Truth, err = v.truth(row, d.scale)
		return out, err
	}
	frames := replay.NewFrameRows(1, d.Frames.Stack)[0]
	find := func(at int, stack [][]byte) (n event.NearestFrame) {
		slot := -1
		if slot, n.Distance = nearestLatent(v.Real, at, row[at:at+shape.Obs], -1); slot >= 0 && v.Real.Seen(&frames, slot) == nil {
			n.Frame = slices.Clone(stack[len(stack)-1])
		}
		return n
	}
	out.Z, out.Next = find(0, frames.Stack), find(next, frames.Next)
	return out, nil
}

// nearestLatent returns the slot of the row in a ring, other than slot but, whose numbers
// from column at on are nearest to z, and their distance. It returns −1 and NaN if z is not
// finite or there is no other row.
func nearestLatent(from *replay.Ring, at int, z []float32, but int) (slot int, distance float64) {
	width, slot, best := from.Shape().Width(), -1, float32(math.Inf(1))
	for i := 0; i < from.Len(); {
		for rows := from.Span(i); len(rows) > 0; rows = rows[width:] {
			if d := analysis.SquareWithin(z, rows[at:at+len(z)], best); d < best && i != but {
				slot, best = i, d
			}
			i++
		}
	}
	if slot < 0 {
		return slot, math.NaN()
	}
	return slot, math.Sqrt(float64(best))
}
