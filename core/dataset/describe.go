package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
)

// Finding is a line about a dataset.
type Finding struct {
	Wrong bool // it is in the way of learning from the data
	Text  string
}

// listed is how many numbers of an observation, or of an action, have a line of their own.
const listed = 50

// Describe says what is in a dataset, and what is wrong with it.
func (d *Dataset) Describe() []Finding {
	r := report{d: d}
	r.say("%s: %d rows of %d numbers observed and %d of an action; sha256 %s", d.Format, d.Len(), d.Obs, d.Act, d.SHA256)
	r.episodes()
	r.dropped()
	r.columns()
	r.actions()
	r.repeated()
	return r.all
}

type report struct {
	d   *Dataset
	all []Finding
}

func (r *report) say(format string, about ...any) {
	r.all = append(r.all, Finding{Text: fmt.Sprintf(format, about...)})
}

func (r *report) warn(format string, about ...any) {
	r.all = append(r.all, Finding{Wrong: true, Text: fmt.Sprintf(format, about...)})
}

func (r *report) episodes() {
	all := r.d.Episodes
	ended, rows, single := 0, 0, 0
	lengths, returns := newSpan(), newSpan()
	for _, e := range all {
		if e.Ended {
			ended++
		}
		if e.Length == 1 {
			single++
		}
		rows += e.Length
		lengths.add(float64(e.Length))
		returns.add(e.Return)
	}
	if len(all) > 1 && single == len(all) {
		r.say("no row follows another one: they are of no episodes, as generated ones")
		return
	}
	r.say("%d episodes of %g to %g rows, mean %.4g; %d truly ended (%.3g%%), the others were cut off", len(all), lengths.low, lengths.high, lengths.mean(), ended, 100*float64(ended)/float64(len(all)))
	r.say("returns from %.5g to %.5g, mean %.5g", returns.low, returns.high, returns.mean())
}

func (r *report) dropped() {
	d := r.d.Dropped
	whole := r.d.Len() + d.Total()
	if n := d.Ends + d.Cuts; n > 0 {
		r.say("%d of %d rows are dropped, as what follows there is another episode: %d at true ends, %d where an episode was cut off", n, whole, d.Ends, d.Cuts)
		if d.Ends > 0 {
			r.warn("no true end is left, as none has a next observation of its own: nothing can be learned about what ends an episode from it")
		}
	}
	if d.NotFinite > 0 {
		r.warn("%d of %d rows have NaN or an infinity, and are dropped", d.NotFinite, whole)
	}
}

func (r *report) columns() {
	d := r.d
	constant := 0
	for j := range d.width() - 1 - d.Obs { // not s' and d
		name, number := "observation", j
		switch {
		case j == d.Obs+d.Act:
			name, number = "rewards", -1
		case j >= d.Obs:
			name, number = "action", j-d.Obs
		}
		v := newSpan()
		for i := range d.Len() {
			v.add(float64(d.Row(i)[j]))
		}
		if number >= 0 {
			name = fmt.Sprintf("%s %d", name, number)
		}
		switch {
		case v.low == v.high:
			if constant++; constant <= listed {
				r.say("%s is always %.5g", name, v.low)
			}
		case number < listed:
			r.say("%s from %.5g to %.5g, mean %.5g", name, v.low, v.high, v.mean())
		}
	}
	if over := max(d.Obs, d.Act); over > listed {
		r.say("only the first %d numbers of each are listed", listed)
	}
}

func (r *report) actions() {
	d := r.d
	if d.Low != nil {
		r.say("actions are scaled to [-1, 1] from their bounds, %g to %g", d.Low, d.High)
	}
	if n, most := d.Beyond(); n > 0 {
		r.warn("%d of %d rows have actions beyond [-1, 1], the largest is %.5g: say the bounds with --act-low and --act-high", n, d.Len(), most)
	}
}

// repeated counts rows that are there more than once.
func (r *report) repeated() {
	seed := maphash.MakeSeed()
	met := make(map[uint64]struct{}, r.d.Len())
	again := 0
	var text []byte
	for i := range r.d.Len() {
		text = text[:0]
		for _, v := range r.d.Row(i) {
			text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v))
		}
		sum := maphash.Bytes(seed, text)
		if _, was := met[sum]; was {
			again++
		}
		met[sum] = struct{}{}
	}
	if again > 0 {
		r.say("%d of %d rows repeat an earlier one", again, r.d.Len())
	}
}

// span are the least and the largest of some numbers.
type span struct {
	low, high, sum float64
	n              int
}

func newSpan() *span { return &span{low: math.Inf(1), high: math.Inf(-1)} }

func (s *span) add(v float64) {
	s.low, s.high, s.sum, s.n = min(s.low, v), max(s.high, v), s.sum+v, s.n+1
}

func (s *span) mean() float64 { return s.sum / float64(max(s.n, 1)) }
