package chart

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// awkward is a collection of data that has broken charts before.
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

// Every width and every height, with random data of random faults.
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

// Ten million points behind PGRLAB_SOAK, a million always.
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

// A dot is where it was measured, whatever the smoothing line does.
func TestSmoothingNeverHidesADot(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		var points, smooth []Point
		for i := range 2 + r.IntN(60) {
			y := r.NormFloat64()
			points = append(points, Point{float64(i), y})
			smooth = append(smooth, Point{float64(i), y * float64(r.IntN(2))})
		}
		with := Chart{Series: []Series{{Points: points, Smooth: smooth, Draw: LineAndDots}}}
		alone := with
		alone.Series = []Series{{Points: points, Draw: Dots}}
		w, h := 20+r.IntN(100), 5+r.IntN(30)
		if got, want := dotCells(&with, w, h), dotCells(&alone, w, h); got != want {
			t.Fatalf("%dx%d: %d dots with the line, %d without:\n%s", w, h, got, want, strings.Join(with.Lines(w, h), "\n"))
		}
	}
}

func dotCells(c *Chart, w, h int) int { return strings.Count(strings.Join(c.Lines(w, h), ""), "●") }

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

func TestLogarithmicAxis(t *testing.T) {
	c := Chart{Log: true, Series: []Series{{Points: []Point{{0, 1}, {1, 0}, {2, 10}, {3, -5}, {4, 1000}}, Draw: Dots}}}
	text := strings.Join(c.Lines(60, 14), "\n")
	if n := strings.Count(text, "●"); n != 3 {
		t.Errorf("%d dots for three positive values:\n%s", n, text)
	}
	if !strings.Contains(text, "1000 ┤") || !strings.Contains(text, " 10 ┤") {
		t.Errorf("no powers of ten on the axis:\n%s", text)
	}
}

func TestDecimateKeepsExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		points := make([]Point, 1+r.IntN(3000))
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range points {
			points[i] = Point{float64(i), r.NormFloat64()}
			lo, hi = math.Min(lo, points[i].Y), math.Max(hi, points[i].Y)
		}
		columns := Decimate(points, 0, float64(len(points)-1), 1+r.IntN(120))
		gotLo, gotHi, n := math.Inf(1), math.Inf(-1), 0
		for _, c := range columns {
			n += c.N
			if c.N > 0 {
				gotLo, gotHi = math.Min(gotLo, c.Min), math.Max(gotHi, c.Max)
			}
			if math.IsNaN(c.Value) {
				t.Fatalf("a gap in gapless data: %+v", c)
			}
		}
		if gotLo != lo || gotHi != hi || n != len(points) {
			t.Fatalf("%d points in %d columns: min %v max %v n %d, want %v %v %d", len(points), len(columns), gotLo, gotHi, n, lo, hi, len(points))
		}
	}
}

func TestDecimateGapsAndInterpolation(t *testing.T) {
	nan := math.NaN()
	columns := Decimate([]Point{{0, 0}, {4, 8}, {5, nan}, {8, 1}, {10, 3}}, 0, 10, 11)
	want := []float64{0, 2, 4, 6, 8, nan, nan, nan, 1, 2, 3}
	for i, c := range columns {
		if c.Value != want[i] && !(math.IsNaN(c.Value) && math.IsNaN(want[i])) {
			t.Errorf("column %d: %v, want %v", i, c.Value, want[i])
		}
	}
	if columns[2].N != 0 || columns[4].N != 1 {
		t.Errorf("N counts interpolated columns: %+v", columns)
	}
}

// A labelled row stands for its label exactly, and the range is covered.
func TestScaleIsRoundAndCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		lo := r.NormFloat64() * math.Pow(10, float64(r.IntN(8)-3))
		hi := lo + r.Float64()*math.Pow(10, float64(r.IntN(8)-3))
		rows := 2 + r.IntN(60)
		s := newScale(lo, hi, rows)
		if s.rowOf(lo) < -nearest-1e-3 || s.rowOf(hi) > float64(rows-1)+nearest+1e-3 {
			t.Fatalf("[%v, %v] in %d rows: rows %v to %v of %+v", lo, hi, rows, s.rowOf(lo), s.rowOf(hi), s)
		}
		if k := s.low / s.step; rows >= 8 && math.Abs(k-math.Round(k)) > 1e-6*math.Max(1, math.Abs(k)) {
			t.Fatalf("lowest label %v is no multiple of %v", s.low, s.step)
		}
	}
}

func TestFormatValue(t *testing.T) {
	for _, c := range []struct {
		v, step float64
		want    string
	}{
		{0.025, 0.025, "0.025"}, {0.05, 0.025, "0.050"}, {800, 200, "800"}, {-1e-9, 1, "0"},
		{1e-17, 0.1, "0.0"}, {250_000, 50_000, "250k"}, {1.5e6, 5e5, "1.5M"}, {3e-7, 1e-7, "3.0e-07"},
	} {
		if got := FormatValue(c.v, c.step); got != c.want {
			t.Errorf("FormatValue(%v, %v) = %q, want %q", c.v, c.step, got, c.want)
		}
	}
}

func TestASCIIHasOnlyASCII(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		c := randomChart(r)
		c.Glyphs, c.Markers = ASCII(), []Marker{{X: 9, Label: "1", Text: "w 1->2"}}
		for i := range c.Series {
			c.Series[i].Label = "A"
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
		{Kind: MarkerLine}, {Kind: MarkerNumber}, {Kind: AppliedTick}, {Kind: ReferenceBracket}, {Kind: ReferenceFaint}, {Kind: CursorLine}} {
		if !seen[want] {
			t.Errorf("no piece of role %+v", want)
		}
	}
}

func example() *Chart {
	var a, b []Point
	for i := range 60 {
		x := float64(i) * 1000
		a = append(a, Point{x, 800/(1+math.Exp(-float64(i-30)/8)) + 40*math.Sin(float64(i)*1.7)})
		b = append(b, Point{x, 300 + 100*math.Cos(float64(i)/9)})
	}
	a[20].Y = math.NaN()
	at := 31000.0
	return &Chart{
		Series:     []Series{{Points: a, Draw: LineAndDots}, {Points: b}},
		Markers:    []Marker{{22000, "1", "F td→curiosity"}, {41500, "2", "ω 1→1.5"}, {52000, "3", "r .5→.75"}},
		Applied:    []float64{20500},
		References: []Reference{{X: 60000, Low: 500, Mid: 600, High: 700}, {X: 45000, Low: 100, Mid: 150, High: 200, Faint: true}},
		XMax:       60000,
		Include:    []float64{0},
		Cursor:     &at,
	}
}

func TestGolden(t *testing.T) {
	frame := func(name string, c *Chart, w, h int) string {
		return fmt.Sprintf("%s %dx%d\n%s\n", name, w, h, strings.Join(c.Lines(w, h), "|\n")+"|")
	}
	ascii := example()
	ascii.Glyphs = ASCII()
	braille, brailleEnds := example(), ends()
	braille.Glyphs, brailleEnds.Glyphs = Unicode().Braille(), Unicode().Braille()
	got := frame("example", example(), 96, 17) + frame("example", example(), 46, 9) +
		frame("ascii", ascii, 70, 14) + frame("constant", &Chart{Series: []Series{{Points: awkward()["constant"], Draw: LineAndDots}}}, 40, 8) +
		frame("gaps", &Chart{Series: []Series{{Points: awkward()["gaps"], Draw: LineAndDots}}}, 40, 8) +
		frame("empty", &Chart{}, 40, 8) + frame("low", example(), 60, 4) +
		frame("braille", braille, 96, 17) + frame("braille", braille, 46, 9) + frame("ends", ends(), 80, 15) + frame("ends in braille", brailleEnds, 80, 15) +
		frame("crowded", crowded(), 60, 12) + frame("crowded", crowded(), 60, 14) + frame("crowded", crowded(), 24, 14)
	path := filepath.Join("testdata", "charts.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("charts differ from %s (run with -update to accept)\n%s", path, got)
	}
}

// ends are lines with labels behind them, of which two end at the same place.
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

// crowded are markers of which some share a column and some are neighbours.
func crowded() *Chart {
	c := &Chart{Series: []Series{{Points: []Point{{0, 0}, {100, 100}}}}}
	for i, x := range []float64{10, 41, 42, 42.1, 44, 70, 99, 100} {
		c.Markers = append(c.Markers, Marker{X: x, Label: strconv.Itoa(1 + (i*3)%8), Text: "r 0.5→0.75"})
	}
	return c
}

// Labels of markers stand in the order of their markers, apart from each other and
// inside the plot, and none is lost.
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

// Every dot of a line lies where its value is, to half the height of a dot, and the
// label of a line does not hide a dot of another.
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

// The label of each line in sight is written, next to its end.
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

func BenchmarkLines(b *testing.B) {
	c := example()
	for b.Loop() {
		c.Lines(98, 16)
	}
}
