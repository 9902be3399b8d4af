package ground

import (
	"fmt"
	"math"
	"strings"

	"pgrlab/tui/format"
	"pgrlab/tui/theme"
)

// returns are what the histogram shows: of the neighbours, of the present policy, and the return of which
// the sentence speaks. A number that is NaN is unknown.
type returns struct {
	all         []float64
	here, half  float64
	level, last float64
	more        int
	of          string // what half is half of
}

// histogram counts the neighbours by their return, in rows of columns; below stand the marks of the other
// returns and the ends of the axis, and beside it what they are, if there is room.
func (b *Box) histogram(r returns, rows, w int) []string {
	t := b.Theme
	low, high := r.span()
	if !(low < high) {
		return nil
	}
	n, beside := columns, w >= narrow+gap+legendWidth
	switch {
	case beside:
		n = min(n, w-gap-legendWidth)
	default:
		n = min(n, w)
	}
	at := func(v float64) int { return max(0, min(n-1, int(float64(n)*(v-low)/(high-low)))) }
	counts := make([]float64, n)
	for _, v := range r.all {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			counts[at(v)]++
		}
	}
	out := t.Columns(counts, rows, t.Series[0])
	if !math.IsNaN(r.here) {
		marks := []rune(strings.Repeat(" ", n))
		marks[at(r.half)] = []rune(t.Glyphs.Vertical)[0]
		marks[at(r.here)] = []rune(t.Glyphs.Up)[0]
		out = append(out, t.Accent.On(string(marks)))
	}
	ends := [2]string{format.Number(low), format.Number(high)}
	out = append(out, t.Dim.On(ends[0]+strings.Repeat(" ", max(1, n-theme.Width(ends[0])-theme.Width(ends[1])))+ends[1]))
	if beside {
		for i, text := range b.legend(r) {
			at := len(out) - legendRows + i // beside the last rows: there is one of bars at least
			out[at] = t.Fit(out[at], n+gap) + text
		}
	}
	return out
}

// The columns of the histogram: so many if there are as many, and so few with a legend beside it.
const (
	columns     = 48
	narrow      = 24
	gap         = 3
	legendWidth = 40
	legendRows  = 3
)

// legend says in legendRows rows what the marks are; nil: there are none.
func (b *Box) legend(r returns) (lines []string) {
	t := b.Theme
	if math.IsNaN(r.here) {
		return nil
	}
	lines = append(lines,
		t.Accent.On(t.Glyphs.Up)+" this policy "+format.Number(r.here)+t.Dim.On(fmt.Sprintf(", %d return more", r.more)),
		t.Accent.On(t.Glyphs.Vertical)+" half "+r.of+t.Dim.On(", "+format.Number(r.half)))
	before := ""
	if !math.IsNaN(r.last) {
		before = "last evaluation " + format.Number(r.last)
	}
	if !math.IsNaN(r.level) {
		before += ", level " + format.Number(r.level)
	}
	return append(lines, t.Dim.On(strings.TrimPrefix(before, ", ")))
}

// span is the range of the axis, which has 0 in it if that is near.
func (r *returns) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range append([]float64{r.here, r.half}, r.all...) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if low > 0 && low < high/2 {
		low = 0
	}
	if low == high { // all are alike
		low, high = low-1, high+1
	}
	return low, high
}
