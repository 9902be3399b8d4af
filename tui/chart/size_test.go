package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// awkward returns data that has broken charts before.
func awkward() map[string][]Point {
	nan, inf := math.NaN(), math.Inf(1)
	line := func(ys ...float64) []Point {
		out := make([]Point, len(ys))
		for i, y := range ys {
			out[i] = Point{float64(i * 1000), y}
		}
		return out
	}
	wave := make([]Point, 500)
	for i := range wave {
		wave[i] = Point{float64(i), math.Sin(float64(i)/30) * 1e-7}
	}
	return map[string][]Point{
		"none":      nil,
		"one":       line(3),
		"two":       line(3, 4),
		"constant":  line(5, 5, 5, 5),
		"zero":      line(0, 0, 0),
		"nan":       line(nan, nan),
		"gaps":      line(1, nan, 3, nan, nan, 2, 5),
		"infinite":  line(1, inf, -inf, 2),
		"all inf":   line(inf, -inf),
		"huge":      line(-1e308, 1e308, 3e299, -9e299),
		"tiny":      line(1e-320, 2e-320, 0),
		"close":     line(1e15, 1e15+1, 1e15-1),
		"negative":  line(-817, -36, -250.5),
		"small":     wave,
		"same x":    {{7, 1}, {7, 9}, {7, -4}},
		"bad x":     {{nan, 1}, {inf, 2}, {3, 3}, {-inf, 4}},
		"backwards": {{9, 1}, {5, 2}, {1, 3}},
	}
}

func TestLinesFitAnySizeAndData(t *testing.T) {
	for name, points := range awkward() {
		for _, draw := range []Draw{Line, Dots, LineAndDots} {
			c := Chart{
				Series:     []Series{{Points: points, Draw: draw, Smooth: points[len(points)/3:]}, {Points: points[:len(points)/2]}},
				Markers:    []Marker{{X: 500, Label: "1", Text: "ω 1→2"}, {X: math.NaN(), Label: "2"}, {X: 900, Label: "13", Text: "日本語のメモ e\u0301"}},
				Applied:    []float64{400, math.Inf(1)},
				References: []Reference{{X: 700, Low: 1, Mid: 2, High: 3}, {X: math.Inf(1), Low: 1, Mid: 2, High: 3}, {Low: math.NaN()}},
				Levels:     []Level{{2, "untrained"}, {math.NaN(), "x"}, {math.Inf(-1), "日本"}},
				Log:        draw == Dots,
			}
			for _, w := range []int{1, 2, 3, 7, 11, 14, 40, 99, 200} {
				for _, h := range []int{1, 2, 3, 4, 5, 6, 13, 14, 60, 200} {
					checkSize(t, fmt.Sprintf("%s draw %d", name, draw), &c, w, h)
				}
			}
		}
	}
}

func checkSize(t *testing.T, name string, c *Chart, w, h int) {
	t.Helper()
	lines := c.Lines(w, h)
	if len(lines) != h {
		t.Fatalf("%s at %dx%d: %d lines", name, w, h, len(lines))
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != w {
			t.Fatalf("%s at %dx%d: line %d is %d wide: %q", name, w, h, i, got, line)
		}
		if !utf8.ValidString(line) {
			t.Fatalf("%s at %dx%d: line %d is not UTF-8: %q", name, w, h, i, line)
		}
	}
}

// Lines fit at every width and height, with random data that has random faults.
func TestLinesFitEverySize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for w := 1; w <= 200; w++ {
		for h := 1 + w%29; h <= 200; h += 29 {
			checkSize(t, "random", randomChart(r), w, h)
		}
	}
}

func randomChart(r *rand.Rand) *Chart {
	c := Chart{Glyphs: []func() Glyphs{Unicode, Console, ASCII, Unicode().Braille}[r.IntN(4)](), Log: r.IntN(4) == 0}
	if r.IntN(2) == 0 {
		c.References = []Reference{{r.Float64() * 60, r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.IntN(2) == 0}}
	}
	if r.IntN(2) == 0 {
		c.Levels = []Level{{r.NormFloat64(), []string{"", "untrained", "中"}[r.IntN(3)]}}
	}
	for range r.IntN(4) {
		c.Markers = append(c.Markers, Marker{X: r.Float64() * 50, Label: strconv.Itoa(r.IntN(200)), Text: strings.Repeat([]string{"x", "中", "é"}[r.IntN(3)], r.IntN(12))})
	}
	for range r.IntN(6) {
		s := Series{Draw: Draw(r.IntN(3)), Label: []string{"", "", "A", "中"}[r.IntN(4)]}
		size := math.Pow(10, float64(r.IntN(16)-8))
		for i := range r.IntN(60) {
			y := r.NormFloat64() * size
			switch r.IntN(12) {
			case 0:
				y = math.NaN()
			case 1:
				y = math.Inf(1 - 2*r.IntN(2))
			}
			s.Points = append(s.Points, Point{float64(i), y})
		}
		if r.IntN(3) == 0 {
			s.Smooth = s.Points[len(s.Points)/4:]
		}
		c.Series = append(c.Series, s)
	}
	return &c
}

// A chart takes a million points, and with PGRLAB_SOAK ten million.
func TestMillionPoints(t *testing.T) {
	n := 1_000_000
	if os.Getenv("PGRLAB_SOAK") != "" {
		n *= 10
	}
	points := make([]Point, n)
	for i := range points {
		points[i] = Point{float64(i), math.Mod(float64(i), 7)}
	}
	points[654_321].Y = 500 // one spike
	c := Chart{Series: []Series{{Points: points, Draw: Line}}}
	checkSize(t, "million", &c, 100, 12)
	if top := c.Lines(100, 12)[0:3]; strings.TrimLeft(strings.Join(top, ""), " .0123456789┤│") == "" {
		t.Errorf("the spike is not in the upper rows:\n%s", strings.Join(c.Lines(100, 12), "\n"))
	}
}
