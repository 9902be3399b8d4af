package generative

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

func newResample(t testing.TB, rows int) *Resample {
	t.Helper()
	c := tiny()
	c.Chunk = 8
	g, err := NewResample(c, ResampleConfig{Rows: rows}, tinyShape, 11)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// counted returns how often each of rows is in made; any other row is an error.
func counted(t *testing.T, rows table, made []float32) []int {
	t.Helper()
	n := make([]int, len(rows))
	for row := range slices.Chunk(made, tinyShape.Width()) {
		i := slices.IndexFunc(rows, func(real []float32) bool { return slices.Equal(real, row) })
		if i < 0 {
			t.Fatalf("%v is no real transition", row)
		}
		n[i]++
	}
	return n
}

// With scores, the rows of the top share are drawn, each equally often, and PromptScores returns
// their F. Without scores, all rows are drawn.
func TestResampleDrawsWhatIsRelevant(t *testing.T) {
	rows, scores := randomRows(40)
	knobs := tinyGenerate
	knobs.Samples = 4_000
	for name, of := range map[string][]float32{"top quarter": scores, "all": nil} {
		g := newResample(t, 100)
		startFit(t, g, rows, of, tinyFit, 1)
		finishFit(t, g, 1)
		made := generateAll(t, g, knobs, 3)
		asked := g.PromptScores(knobs, 3, knobs.Samples)
		n, share, least := counted(t, rows, made), 40, float32(math.Inf(-1))
		if of != nil {
			sorted := slices.Clone(scores)
			slices.Sort(sorted)
			share, least = 10, sorted[30]
		} else if asked != nil {
			t.Error("without conditions something was asked for")
		}
		chi := 0.0
		for i, times := range n {
			if scores[i] < least {
				if times > 0 {
					t.Errorf("%s: F of row %d is %g, and it comes %d times", name, i, scores[i], times)
				}
				continue
			}
			want := float64(knobs.Samples) / float64(share)
			chi += (float64(times) - want) * (float64(times) - want) / want
		}
		if d := float64(share - 1); chi > d+5*math.Sqrt(2*d) {
			t.Errorf("%s: χ² of %d rows is %g", name, share, chi)
		}
		for i, f := range asked {
			row := made[i*tinyShape.Width():][:tinyShape.Width()]
			at := slices.IndexFunc(rows, func(real []float32) bool { return slices.Equal(real, row) })
			if scores[at] != f {
				t.Fatalf("sample %d has F %g, and %g was asked for", i, scores[at], f)
			}
		}
	}
}

// A fit keeps at most as many rows as it may, each row with equal probability.
func TestResampleKeepsAnyRow(t *testing.T) {
	rows, scores := randomRows(40)
	g, n := newResample(t, 10), make([]int, len(rows))
	const fits = 800
	for refit := range uint64(fits) {
		startFit(t, g, rows, scores, tinyFit, refit)
		finishFit(t, g, 1)
		if !slices.IsSortedFunc(g.serving.scores, func(a, b float32) int { return int(math.Copysign(1, float64(b-a))) }) {
			t.Fatalf("F of what is kept: %v", g.serving.scores)
		}
		for i, times := range counted(t, rows, g.serving.rows) {
			if times > 1 {
				t.Fatalf("row %d is kept %d times", i, times)
			}
			n[i] += times
		}
	}
	deviation := math.Sqrt(fits * 0.25 * 0.75)
	for i, times := range n {
		if !(math.Abs(float64(times)-fits/4) <= 4.5*deviation) {
			t.Errorf("row %d is kept by %d of %d fits, want about a quarter", i, times, fits)
		}
	}
}

// A Resample that is saved between any two slices and loaded into a new one goes on bit for bit.
func TestAResampleGoesOnFromEverywhere(t *testing.T) {
	rows, scores := randomRows(40)
	knobs := tinyGenerate
	knobs.Samples = 30
	play := func(border func(*Resample) *Resample) (made []float32) {
		g := newResample(t, 20)
		for refit := range uint64(2) {
			startFit(t, g, rows, scores, tinyFit, refit)
			g = border(g)
			finishFit(t, g, 1)
			g = border(g)
			if err := g.StartGenerate(knobs, refit); err != nil {
				t.Fatal(err)
			}
			for done, total := 0, 1; done < total; {
				g = border(g)
				piece, n, of, err := g.GenerateSlice()
				if err != nil {
					t.Fatal(err)
				}
				made, done, total = append(made, piece...), n, of
			}
			g = border(g)
		}
		return made
	}
	whole := play(func(g *Resample) *Resample { return g })
	if len(whole) != 2*30*tinyShape.Width() {
		t.Fatalf("%d numbers of twice 30 rows", len(whole))
	}
	again := play(func(g *Resample) *Resample {
		var file bytes.Buffer
		if err := g.Save(&file); err != nil {
			t.Fatal(err)
		}
		file.WriteString("more")
		other := newResample(t, 20)
		if err := other.Load(&file, nil); err != nil {
			t.Fatal(err)
		}
		if file.String() != "more" {
			t.Fatalf("it left %q", file.String())
		}
		return other
	})
	if !slices.Equal(whole, again) {
		t.Error("from files it makes other rows")
	}
}

func TestResampleRefusals(t *testing.T) {
	rows, scores := randomRows(40)
	g := newResample(t, 20)
	refused := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused("no transitions", g.StartFit(table{}, nil, tinyFit, 1))
	refused("39 scores for 40", g.StartFit(rows, scores[1:], tinyFit, 1))
	refused("F of transition 0 is NaN", g.StartFit(rows, append([]float32{float32(math.NaN())}, scores[1:]...), tinyFit, 1))
	startFit(t, g, rows, scores, tinyFit, 1)
	refused("under way", g.StartFit(rows, scores, tinyFit, 1))
	refused("under way", g.StartGenerate(tinyGenerate, 1))
	finishFit(t, g, 1)
	refused("samples", g.StartGenerate(GenKnobs{Steps: 4, TopFraction: 1}, 1))
	var file bytes.Buffer
	if err := g.Save(&file); err != nil {
		t.Fatal(err)
	}
	refused("at most 19 rows", newResample(t, 19).Load(bytes.NewReader(file.Bytes()), nil))
	refused("have 0 dimensions", newResample(t, 20).Load(bytes.NewReader(make([]byte, binary.Size(header{}))), nil))
	for cut := range file.Len() {
		if err := newResample(t, 20).Load(bytes.NewReader(file.Bytes()[:cut]), nil); err == nil {
			t.Fatalf("%d of %d bytes load", cut, file.Len())
		}
	}
	refused("resample.rows is 0", ResampleConfig{}.Validate())
}
