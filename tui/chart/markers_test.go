package chart

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestReferenceStandsAtItsStep(t *testing.T) {
	c := Chart{Series: []Series{{Points: []Point{{0, 0}, {100, 100}}}}, XMax: 100,
		References: []Reference{{X: 50, Low: 40, Mid: 50, High: 60}}}
	column := func() int {
		for _, line := range c.Lines(80, 20) {
			if i := strings.Index(line, "┘"); i >= 0 {
				return len([]rune(line[:i]))
			}
		}
		return -1
	}
	if got := column(); got < 40 || got > 46 {
		t.Errorf("the bracket of x = 50 of 100 stands in column %d of 80", got)
	}
	c.XMax = 40 // a shorter run
	c.Series[0].Points = c.Series[0].Points[:1]
	if got := column(); got != -1 {
		t.Errorf("a run that is too short shows the bracket in column %d", got)
	}
}

// A level is drawn only through blank cells, at its height, and hides nothing.
func TestALevelHidesNothing(t *testing.T) {
	c := Chart{Series: []Series{{Points: []Point{{0, 0}, {100, 100}}}}, XMax: 100, Include: []float64{0}}
	plain := c.Lines(60, 14)
	c.Levels = []Level{{50, "untrained"}}
	at := -1
	for y, line := range c.Lines(60, 14) {
		was := []rune(plain[y])
		for x, char := range []rune(line) {
			if was[x] != ' ' && was[x] != char {
				t.Errorf("line %d, column %d: %q has become %q", y, x, was[x], char)
			}
		}
		if strings.Count(line, "╌") > 10 {
			if at = y; !strings.HasSuffix(line, " untrained") {
				t.Errorf("%q", line)
			}
		}
	}
	label := -1
	for y, line := range plain {
		if strings.Contains(line, "50 ") || strings.Contains(line, "50┤") {
			label = y
		}
	}
	if at < 0 || label >= 0 && at != label {
		t.Errorf("the level of 50 is in line %d, its label in line %d of\n%s", at, label, strings.Join(plain, "\n"))
	}
	for _, y := range []float64{-50, 150, math.NaN()} {
		c.Levels = []Level{{y, "untrained"}}
		if strings.Join(c.Lines(60, 14), "\n") != strings.Join(plain, "\n") {
			t.Errorf("a level of %v is drawn outside of the range", y)
		}
	}
}

// ends has labelled lines, two of which end at the same place.
func ends() *Chart {
	c := &Chart{Include: []float64{0}}
	for i, label := range []string{"A", "B", "C"} {
		s := Series{Label: label, Draw: Draw(2 * (i % 2))}
		for x := range 40 - 12*(i/2) {
			s.Points = append(s.Points, Point{float64(x), 10 + float64(x)*float64(1+i*i) + 5*math.Sin(float64(x+i))})
		}
		c.Series = append(c.Series, s)
	}
	c.Series[1].Points[39].Y = c.Series[0].Points[39].Y
	return c
}

// crowded has markers, some of which share a column and some of which are neighbours.
func crowded() *Chart {
	c := &Chart{Series: []Series{{Points: []Point{{0, 0}, {100, 100}}}}}
	for i, x := range []float64{10, 41, 42, 42.1, 44, 70, 99, 100} {
		c.Markers = append(c.Markers, Marker{X: x, Label: strconv.Itoa(1 + (i*3)%8), Text: "r 0.5→0.75"})
	}
	return c
}

// Labels of markers keep the order of their markers, stay apart from each other and inside the
// plot, and none is lost.
func TestMarkerLabelsStayApart(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 3000 {
		w := 8 + r.IntN(90)
		var at []mark
		var want []string
		x := r.IntN(w)
		for range r.IntN(9) {
			at = append(at, mark{x: x, label: strconv.Itoa(r.IntN(40))})
			want = append(want, at[len(at)-1].label)
			x = min(w-1, x+r.IntN(12))
		}
		var got []string
		runs := placed(at, w)
		for i, run := range runs {
			if run.x < 0 || run.end() > w && textWidth(run.text) <= w {
				t.Fatalf("%v: %+v lies outside %d columns", at, run, w)
			}
			if i > 0 && run.x <= runs[i-1].end() {
				t.Fatalf("%v: %+v touches %+v", at, run, runs[i-1])
			}
			got = append(got, strings.Split(run.text, ",")...)
		}
		if text := strings.Join(got, ","); text != strings.Join(want, ",") && !strings.Contains(text, "..") {
			t.Fatalf("labels %v of markers %v", got, want)
		}
	}
}

// The label of each visible line is written next to its end.
func TestEndsAreLabelled(t *testing.T) {
	for _, glyphs := range []Glyphs{Unicode(), Unicode().Braille(), ASCII()} {
		c := ends()
		c.Glyphs = glyphs
		text := strings.Join(c.Lines(80, 15), "\n")
		for _, label := range []string{"A", "B", "C"} {
			if strings.Count(text, label) != 1 {
				t.Errorf("label %s stands %d times:\n%s", label, strings.Count(text, label), text)
			}
		}
	}
}
