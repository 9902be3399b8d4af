package dataset

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/dataset/element"
)

// part is what rows are made from: a file of flat arrays, or an episode.
type part struct {
	name    string  // of an episode; "" of a file
	obs     []array // side by side; n rows, or one more: then the last one is the last s'
	next    []array // n rows; nil: s' is in the row of obs that follows
	act     []array
	rewards array
	ends    *array // n rows, not 0 at true ends; nil: there are none
	cuts    *array // n rows, not 0 where an episode was cut off; nil: only the part's end is one
	number  *array // n rows, the number of the episode; nil: ends and cuts say where one ends
}

// maxNumbers is the largest size of an observation or an action; what is larger is an image.
const maxNumbers = 1 << 14

// assemble makes rows from parts. name is the format.
func assemble(format string, parts []part, o Options) (*Dataset, error) {
	d := &Dataset{Format: format}
	total := uint64(0)
	for i := range parts {
		p := &parts[i]
		obs, act, n, err := p.sizes()
		if err == nil && i > 0 && (obs != d.Obs || act != d.Act) {
			err = fmt.Errorf("%d observations and %d actions, and %d and %d in %s", obs, act, d.Obs, d.Act, parts[0].name)
		}
		if err != nil {
			return nil, p.named(err)
		}
		d.Obs, d.Act = obs, act
		total += n
	}
	need := float64(total) * float64(d.width()) * 4
	if need > float64(o.Limit) {
		return nil, fmt.Errorf("its %d rows take %.1f GB of memory, and %.1f GB is the most: cut it into several files", total, need/1e9, float64(o.Limit)/1e9)
	}
	d.Rows = make([]float32, int(total)*d.width())
	used := 0
	for i := range parts {
		n, err := d.fill(&parts[i], used, o)
		if err != nil {
			return nil, parts[i].named(err)
		}
		used += n
	}
	d.Rows = d.Rows[:used*d.width()]
	return d, nil
}

func (p *part) named(err error) error {
	if p.name == "" {
		return err
	}
	return named(p.name, err)
}

// sizes checks that the arrays fit to each other.
func (p *part) sizes() (obs, act int, rows uint64, err error) {
	for _, a := range slices.Concat(p.obs, p.next, p.act, []array{p.rewards}) {
		if len(a.shape) == 0 {
			return 0, 0, 0, fmt.Errorf("%s is a single number, want rows", a.name)
		}
	}
	rows = p.rewards.rows()
	if p.rewards.width() != 1 {
		return 0, 0, 0, fmt.Errorf("rewards has %d numbers a row, want 1", p.rewards.width())
	}
	first := p.obs[0].rows()
	if first != rows && (p.next != nil || first != rows+1) {
		return 0, 0, 0, fmt.Errorf("%s has %d rows, and rewards has %d", p.obs[0].name, first, rows)
	}
	width := func(all []array, rows uint64) (int, error) {
		w := uint64(0)
		for _, a := range all {
			if a.rows() != rows {
				return 0, fmt.Errorf("%s has %d rows, want %d", a.name, a.rows(), rows)
			}
			if a.of.Kind == element.Uint && len(a.shape) > 2 || a.width() > maxNumbers {
				return 0, refuse("%s looks like images, and data are of states", a.name)
			}
			w += a.width()
		}
		if w < 1 || w > maxNumbers {
			return 0, fmt.Errorf("%s has %d numbers a row, want from 1 to %d", all[0].name, w, maxNumbers)
		}
		return int(w), nil
	}
	if obs, err = width(p.obs, first); err != nil {
		return 0, 0, 0, err
	}
	if p.next != nil {
		if next, err := width(p.next, rows); err != nil || next != obs {
			return 0, 0, 0, fmt.Errorf("%s does not fit to %s", p.next[0].name, p.obs[0].name)
		}
	}
	for _, a := range p.act {
		if a.of.Kind != element.Float {
			return 0, 0, 0, fmt.Errorf("%s are %s, so they choose among some: want actions that are numbers", a.name, a.of.Kind)
		}
	}
	if act, err = width(p.act, rows); err != nil {
		return 0, 0, 0, err
	}
	for _, a := range []*array{p.ends, p.cuts, p.number} {
		if a != nil && (len(a.shape) == 0 || a.rows() != rows || a.width() != 1) {
			return 0, 0, 0, fmt.Errorf("%s has shape %v, want %d rows of 1 number", a.name, a.shape, rows)
		}
	}
	return obs, act, rows, nil
}

// each reads an array, and hands its rows on.
func (a array) each(put func(i int, row []float32)) error {
	w := int(a.width())
	values := make([]float32, int(a.rows())*w)
	if err := a.read(values); err != nil {
		return err
	}
	for i := range int(a.rows()) {
		put(i, values[i*w:(i+1)*w])
	}
	return nil
}

// fill makes the rows of a part, from row number used on, and returns how many of them are kept.
func (d *Dataset) fill(p *part, used int, o Options) (kept int, err error) {
	n := int(p.rewards.rows())
	row := func(i int) []float32 { return d.Row(used + i) }
	clear(d.Rows[used*d.width() : (used+n)*d.width()]) // of what was dropped
	at := 0
	for _, a := range p.obs {
		if err := a.each(func(i int, v []float32) {
			if i < n {
				copy(row(i)[at:], v)
			}
			if p.next == nil && i > 0 {
				copy(row(i - 1)[d.Obs+d.Act+1+at:], v)
			}
		}); err != nil {
			return 0, err
		}
		at += int(a.width())
	}
	at = d.Obs + d.Act + 1
	for _, a := range p.next {
		if err := a.each(func(i int, v []float32) { copy(row(i)[at:], v) }); err != nil {
			return 0, err
		}
		at += int(a.width())
	}
	at = d.Obs
	for _, a := range p.act {
		if err := a.each(func(i int, v []float32) { copy(row(i)[at:], v) }); err != nil {
			return 0, err
		}
		at += int(a.width())
	}
	if err := p.rewards.each(func(i int, v []float32) { row(i)[d.Obs+d.Act] = v[0] }); err != nil {
		return 0, err
	}
	if p.ends != nil {
		if err := p.ends.each(func(i int, v []float32) {
			if v[0] != 0 {
				row(i)[d.width()-1] = 1
			}
		}); err != nil {
			return 0, err
		}
	}
	cut := make([]bool, n)
	if p.cuts != nil {
		if err := p.cuts.each(func(i int, v []float32) { cut[i] = v[0] != 0 }); err != nil {
			return 0, err
		}
	}
	if err := d.count(p, row, cut); err != nil {
		return 0, err
	}
	return d.drop(p, row, cut, o), nil
}

// count takes the episodes of a part.
func (d *Dataset) count(p *part, row func(int) []float32, cut []bool) error {
	n := len(cut)
	if p.number != nil {
		return d.countNumbered(p, row)
	}
	e := Episode{}
	for i := range n {
		r := row(i)
		e.Length++
		e.Return += float64(r[d.Obs+d.Act])
		e.Ended = r[d.width()-1] != 0
		if i == n-1 || e.Ended || cut[i] || p.name == "" && p.cuts == nil && p.next != nil && !d.follows(r, row(i+1)) {
			d.Episodes = append(d.Episodes, e)
			e = Episode{}
		}
	}
	return nil
}

// countNumbered takes the episodes of a part that numbers them; several may be under way at once.
func (d *Dataset) countNumbered(p *part, row func(int) []float32) error {
	places := map[float32]int{}
	return p.number.each(func(i int, v []float32) {
		place, met := places[v[0]]
		if !met {
			place = len(d.Episodes)
			places[v[0]] = place
			d.Episodes = append(d.Episodes, Episode{})
		}
		e, r := &d.Episodes[place], row(i)
		e.Length++
		e.Return += float64(r[d.Obs+d.Act])
		e.Ended = r[d.width()-1] != 0
	})
}

// follows says whether a row begins where the one before ended.
func (d *Dataset) follows(r, after []float32) bool {
	for j, v := range r[d.Obs+d.Act+1 : d.width()-1] {
		if math.Float32bits(v) != math.Float32bits(after[j]) {
			return false
		}
	}
	return true
}

// drop moves the rows that are kept together, and returns how many these are.
func (d *Dataset) drop(p *part, row func(int) []float32, cut []bool, o Options) (kept int) {
	n := len(cut)
	more := p.obs[0].rows() > p.rewards.rows()
	own := p.next != nil || more && p.name != "" // each row has a successor of its own: a part with a name is one episode
	for i := range n {
		r := row(i)
		ended := r[d.width()-1] != 0
		own := own || more && i == n-1
		switch {
		case !own && ended && (!o.KeepEnds || cut[i] || i == n-1):
			d.Dropped.Ends++
		case !own && (cut[i] || i == n-1):
			d.Dropped.Cuts++
		case !finite(r):
			d.Dropped.NotFinite++
		default:
			copy(row(kept), r)
			kept++
		}
	}
	return kept
}

func finite(row []float32) bool {
	for _, v := range row {
		if v-v != 0 { // of an infinity, and of NaN, this is NaN
			return false
		}
	}
	return true
}
