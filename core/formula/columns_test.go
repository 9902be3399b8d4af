package formula

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// table is rows of two numbers and a vector.
type table struct{ columns map[int][]float64 }

func (t *table) Names() []string { return []string{"a", "b", "v"} }

func (t *table) Quantity(name, _ string) (Quantity, error) {
	switch name {
	case "a":
		return Quantity{Slot: 0}, nil
	case "b":
		return Quantity{Slot: 1}, nil
	case "v":
		return Quantity{Slot: 2, Width: 3}, nil
	}
	return Quantity{}, ErrUnknown
}

func (t *table) Read(dst []float64, slot, element, row, rows int) {
	for i := range dst {
		r := row + i%rows
		if slot < 2 {
			dst[i] = t.columns[slot][r]
		} else {
			dst[i] = t.columns[slot][3*r+element+i/rows]
		}
	}
}

// aTable has many rows, among them equal ones.
func aTable(rows int) *table {
	r := rand.New(rand.NewPCG(1, 2))
	t := &table{columns: map[int][]float64{}}
	for range rows {
		t.columns[0] = append(t.columns[0], float64(float32(math.Round(r.NormFloat64()*500)/100)))
		t.columns[1] = append(t.columns[1], float64(float32(r.ExpFloat64())))
		t.columns[2] = append(t.columns[2], r.Float64(), r.Float64(), r.Float64())
	}
	return t
}

func columnsOf(tb testing.TB, text string, t *table) *Columns {
	tb.Helper()
	f, err := Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := f.Columns(t, t)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func (c *Columns) measure(rows int) {
	for pass := range c.Passes() {
		c.Begin(pass)
		c.Observe(pass, rows)
		c.End(pass)
	}
}

// ranks are by their definition: the mean of the places of equal values, over n-1.
func ranks(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		below, equal := 0, 0
		for _, y := range xs {
			if y < x {
				below++
			} else if y == x {
				equal++
			}
		}
		out[i] = (float64(below) + float64(equal-1)/2) / float64(len(xs)-1)
	}
	return out
}

func TestColumnsAgreeWithTheirDefinitions(t *testing.T) {
	const rows = 2500 // more than a block, more than the radix
	data := aTable(rows)
	a, b := data.columns[0], data.columns[1]
	mean, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for _, x := range a {
		mean += x / rows
		least, most = min(least, x), max(most, x)
	}
	deviation := 0.0
	for _, x := range a {
		deviation += (x - mean) * (x - mean) / rows
	}
	deviation = math.Sqrt(deviation)
	sorted := slices.Clone(a)
	slices.Sort(sorted)
	median := (sorted[rows/2-1] + sorted[rows/2]) / 2
	ra, rb := ranks(a), ranks(b)
	for text, want := range map[string]func(i int) float64{
		"a":                       func(i int) float64 { return a[i] },
		"abs(a) + 0.1*b":          func(i int) float64 { return math.Abs(a[i]) + 0.1*b[i] },
		"rank(a)":                 func(i int) float64 { return ra[i] },
		"0.7*rank(a)+0.3*rank(b)": func(i int) float64 { return 0.7*ra[i] + 0.3*rb[i] },
		"mix(7, a, 3, b)":         func(i int) float64 { return 0.7*ra[i] + 0.3*rb[i] },
		"zscore(a)":               func(i int) float64 { return (a[i] - mean) / deviation },
		"zscore(a - a)":           func(i int) float64 { return 0 },
		"scale(a)":                func(i int) float64 { return (a[i] - least) / (most - least) },
		"a > median_all(a) ? mean_all(a) : std_all(a)": func(i int) float64 {
			if a[i] > median {
				return mean
			}
			return deviation
		},
		"quantile_all(a, 0.25) + norm(v[1:])": func(i int) float64 {
			v := data.columns[2][3*i:]
			return sorted[624] + 0.75*(sorted[625]-sorted[624]) + math.Sqrt(v[1]*v[1]+v[2]*v[2])
		},
		"let z = zscore(rank(a)); z*z": func(i int) float64 {
			n := float64(rows)
			z := (ra[i] - 0.5) / func() float64 {
				s := 0.0
				for _, r := range ra {
					s += (r - 0.5) * (r - 0.5) / n
				}
				return math.Sqrt(s)
			}()
			return z * z
		},
	} {
		c := columnsOf(t, text, data)
		c.measure(rows)
		got := make([]float32, rows)
		c.Score(got)
		for i, x := range got {
			if math.Abs(float64(x)-want(i)) > 1e-6*(1+math.Abs(want(i))) {
				t.Errorf("%s of row %d is %v, want %v", text, i, x, want(i))
				break
			}
		}
	}
}

func TestColumnsAreKept(t *testing.T) {
	const rows = 3000
	data := aTable(rows)
	const text = "0.5*rank(a) - zscore(b) + quantile_all(rank(a)*b, 0.9)"
	c := columnsOf(t, text, data)
	if c.Known() || c.Passes() != 2 {
		t.Fatalf("%d passes, known before them is %v", c.Passes(), c.Known())
	}
	c.measure(rows)
	var file bytes.Buffer
	if err := c.Save(&file); err != nil {
		t.Fatal(err)
	}
	want, got := make([]float32, rows), make([]float32, rows)
	c.Score(want)
	other := columnsOf(t, text, data)
	if err := other.Load(bytes.NewReader(file.Bytes())); err != nil || !other.Known() {
		t.Fatalf("load: %v, known is %v", err, other.Known())
	}
	if other.Score(got); !slices.Equal(got, want) {
		t.Error("a formula scores differently after its columns were loaded")
	}
	for _, n := range []int{0, 1, 30, file.Len() - 1} {
		if err := columnsOf(t, text, data).Load(bytes.NewReader(file.Bytes()[:n])); err == nil {
			t.Errorf("%d bytes of %d are read without an error", n, file.Len())
		}
	}
	terms := [][]float32{make([]float32, rows), make([]float32, rows), make([]float32, rows)}
	c.ScoreTerms(terms, rows)
	for i, x := range want {
		if sum := terms[0][i] + terms[1][i] + terms[2][i]; math.Abs(float64(sum-x)) > 1e-5 {
			t.Fatalf("the terms of row %d add up to %v, want %v", i, sum, x)
		}
	}
	if got := strings.Join(c.Terms(), " | "); got != "0.5 * rank(a) | -zscore(b) | quantile_all(rank(a) * b, 0.9)" {
		t.Errorf("the terms are %s", got)
	}
}

func TestColumnsSort(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	values := make([]float32, 20_000)
	for i := range values {
		values[i] = float32(r.NormFloat64() * math.Pow(10, float64(i%30-15)))
	}
	values[7], values[8], values[9] = float32(math.Inf(1)), float32(math.Inf(-1)), 0
	want := slices.Clone(values)
	slices.Sort(want)
	if sortColumn(values, nil); !slices.Equal(values, want) {
		t.Error("values are not sorted")
	}
}

func TestColumnsNameTheRowThatIsWrong(t *testing.T) {
	data := aTable(600)
	data.columns[1][555] = -0.25
	c := columnsOf(t, "rank(a) + log(b)", data)
	c.measure(600)
	got := make([]float32, 600)
	c.Score(got)
	if !math.IsNaN(float64(got[555])) {
		t.Fatalf("row 555 is %v", got[555])
	}
	if got, want := c.Trouble(555), "log of -0.25 (column 11)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := c.Trouble(554); got != "" {
		t.Errorf("row 554: %q, want nothing", got)
	}
}

func BenchmarkColumns(b *testing.B) {
	const rows = 4096
	data := aTable(rows)
	for _, text := range []string{"a", "abs(a) + 0.1*b", "a > 0 and b < 1 ? a : 0", "clip(a*b + 0.5*(a - b)^2 - abs(b)*0.1, -1, 1)", "log(b + 1)", "0.7*rank(a) + 0.3*rank(b)"} {
		b.Run(text, func(b *testing.B) {
			c := columnsOf(b, text, data)
			c.measure(rows)
			out := make([]float32, rows)
			for b.Loop() {
				c.Score(out)
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
