package chart

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// A dot is drawn where it was measured, whatever the smoothed line does.
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
		Levels:     []Level{{120, "untrained"}},
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

func BenchmarkLines(b *testing.B) {
	c := example()
	for b.Loop() {
		c.Lines(98, 16)
	}
}
