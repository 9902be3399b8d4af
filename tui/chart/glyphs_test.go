package chart

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestASCIIHasOnlyASCII(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		c := randomChart(r)
		c.Glyphs, c.Markers = ASCII(), []Marker{{X: 9, Label: "1", Text: "w 1->2"}}
		for i := range c.Series {
			c.Series[i].Label = "A"
		}
		for i := range c.Levels {
			c.Levels[i].Label = "untrained"
		}
		for _, line := range c.Lines(70, 16) {
			for _, b := range []byte(line) {
				if b >= 0x80 {
					t.Fatalf("%q", line)
				}
			}
		}
	}
}

func TestPaintSeesRoles(t *testing.T) {
	seen := map[Role]bool{}
	c := example()
	c.Paint = func(r Role, s string) string { seen[r] = true; return s }
	c.Lines(80, 16)
	for _, want := range []Role{{Kind: AxisLine}, {Kind: AxisLabel}, {SeriesLine, 0}, {SeriesDot, 0}, {SeriesLine, 1},
		{Kind: MarkerLine}, {Kind: MarkerNumber}, {Kind: AppliedTick}, {Kind: ReferenceBracket}, {Kind: ReferenceFaint}, {Kind: LevelLine}, {Kind: CursorLine}} {
		if !seen[want] {
			t.Errorf("no piece of role %+v", want)
		}
	}
}

// Every dot of a line lies at its value, to half the height of a dot, and the label of one line
// does not hide a dot of another.
func TestBrailleFollowsItsValues(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 300 {
		w, h := 20+r.IntN(100), 5+r.IntN(30)
		slope, offset := r.NormFloat64(), 10*r.NormFloat64()
		value := func(x float64) float64 { return offset + slope*x }
		c := Chart{Series: []Series{{Points: []Point{{0, value(0)}, {1000, value(1000)}}}}, XMax: 1000, Glyphs: Unicode().Braille()}
		p := c.prepared()
		l := p.rows(h)
		lo, hi := p.yRange(0, 1000)
		s := newScale(lo, hi, l.height)
		p.columns(&l, w, s.labels(p.formatY))
		seen := 0
		for y, line := range c.Lines(w, h) {
			for x, char := range []rune(line) {
				if char < brailleBlank || char > brailleBlank+0xff {
					continue
				}
				for row := range brailleRows {
					for column := range brailleColumns {
						if uint8(char-brailleBlank)&brailleBits[row][column] == 0 {
							continue
						}
						seen++
						at := float64((x-l.left)*brailleColumns+column) / float64(l.width*brailleColumns-1) * 1000
						want := (s.rowOf(value(at))+0.5)*brailleRows - 0.5
						got := float64((l.height-1-y)*brailleRows + brailleRows - 1 - row)
						steep := math.Abs(slope) / s.row * brailleRows * 1000 / float64(l.width*brailleColumns-1) // a column of dots
						if math.Abs(got-want) > 1+steep {
							t.Fatalf("%dx%d: a dot at row %v, the value is at %.2f", w, h, got, want)
						}
					}
				}
			}
		}
		if seen < 2*l.width {
			t.Fatalf("%dx%d: %d dots in %d columns", w, h, seen, l.width)
		}
	}
}
