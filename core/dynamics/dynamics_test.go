package dynamics

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/rng"
	"pgrlab/core/testing/allocs"
)

func noisy(n int, name string) pairs { return beside(n, name, 1) }

// beside are pairs with two outcomes: a curve of x with noise that grows with |x₀|, and size·x₁.
func beside(n int, name string, size float32) pairs {
	s, p := rng.New(5, name), pairs{}
	for i := range n {
		r := s.At(uint64(i))
		x := []float32{2*r.Float32() - 1, 2*r.Float32() - 1}
		clean := math.Sin(3*float64(x[0])) + float64(x[0])*float64(x[1])
		deviation := 0.02 + 0.2*math.Abs(float64(x[0]))
		p.x = append(p.x, x)
		p.y = append(p.y, []float32{float32(clean + deviation*r.Norm()), size * x[1]})
	}
	return p
}

func small() Config {
	return Config{In: 2, Out: 2, Members: 3, Elites: 2, Width: 16, Layers: 2, Batch: 32, Patience: 2}
}

func fitted(t testing.TB, e *Ensemble, data Data, f Fit, slice int) {
	t.Helper()
	if err := e.StartFit(data, f); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if _, done, err = e.FitSteps(slice); err != nil {
			t.Fatal(err)
		}
	}
}

// sampled are outcomes of the first rows of data, each of an elite and with noise of its own.
func sampled(t testing.TB, e *Ensemble, data pairs, n int) []float32 {
	t.Helper()
	c := e.config
	in, noise, out := make([]float32, 0, n*c.In), make([]float32, n*c.Out), make([]float32, n*c.Out)
	which, from := make([]int8, n), rng.New(9, "sampled").At(1)
	rng.New(9, "noise").FillNormal(noise, 1, 0)
	for i := range n {
		in, which[i] = append(in, data.x[i]...), int8(from.IntN(c.Elites))
	}
	if err := e.Sample(out, in, noise, which); err != nil {
		t.Fatal(err)
	}
	return out
}

// How a fit is cut changes nothing; one that is saved in the middle of an epoch goes on bit for bit, and
// so does the next one, which starts from its weights and moments.
func TestCutsAndSavesChangeNothing(t *testing.T) {
	data := noisy(150, "data")
	first, second := Fit{Steps: 13, Rate: 1e-2, Refit: 1, Fresh: true}, Fit{Steps: 30, Rate: 1e-2, Refit: 2}
	whole := newEnsemble(t, small())
	fitted(t, whole, data, first, 100)
	fitted(t, whole, data, second, 100)

	e := newEnsemble(t, small())
	fitted(t, e, data, first, 1)
	if err := e.StartFit(data, second); err != nil {
		t.Fatal(err)
	}
	for cut := range 9 {
		if _, _, err := e.FitSteps(2); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := e.Save(&file); err != nil {
			t.Fatal(err)
		}
		e = newEnsemble(t, small())
		if err := e.Load(&file, data); err != nil {
			t.Fatal(err)
		}
		if file.Len() > 0 {
			t.Errorf("cut %d: load left %d bytes", cut, file.Len())
		}
	}
	for done := false; !done; {
		var err error
		if _, done, err = e.FitSteps(4); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := sampled(t, e, data, 20), sampled(t, whole, data, 20); !slices.Equal(got, want) {
		t.Errorf("cut and saved, samples are %v, want %v", got, want)
	}
	if !slices.Equal(e.serving.Elites, whole.serving.Elites) || !slices.Equal(e.serving.Errors, whole.serving.Errors) || e.serving.Constant != whole.serving.Constant {
		t.Errorf("serving %+v, want %+v", e.serving, whole.serving)
	}
}

// A fit that goes on from the last one differs from a fresh one, whatever came before that.
func TestFreshFits(t *testing.T) {
	data := noisy(100, "data")
	served := func(fits ...Fit) []float32 {
		e := newEnsemble(t, small())
		for _, f := range fits {
			fitted(t, e, data, f, 100)
		}
		return sampled(t, e, data, 10)
	}
	before, fresh, on := Fit{Steps: 9, Rate: 1e-2, Refit: 1}, Fit{Steps: 9, Rate: 1e-2, Refit: 2, Fresh: true}, Fit{Steps: 9, Rate: 1e-2, Refit: 2}
	if !slices.Equal(served(fresh), served(before, fresh)) {
		t.Error("a fresh fit depends on the one before it")
	}
	if slices.Equal(served(fresh), served(before, on)) {
		t.Error("a fit that goes on is a fresh one")
	}
}

// An ensemble predicts better than the mean and than least squares, and its deviations are those of
// the noise. If its outcomes are scaled, this also holds beside an outcome that is a hundred times
// larger; otherwise that one takes nearly all of what is learned in a fit of this length.
func TestAnEnsembleLearns(t *testing.T) {
	for scaled, size := range map[bool]float32{true: 100, false: 1} {
		train, fresh := beside(1500, "train", size), beside(1000, "fresh", size)
		c := small()
		c.Width, c.Scaled, c.Patience = 32, scaled, 5
		e := newEnsemble(t, c)
		fitted(t, e, train, Fit{Steps: 1200, Rate: 3e-3, Refit: 1}, 1200)
		zero, which := make([]float32, 2), []int8{0}
		one := []float32{1, 1}
		miss, constant, line, within := 0.0, 0.0, 0.0, 0
		for i, x := range fresh.x {
			mean, up := make([]float32, 2), make([]float32, 2)
			if err := e.Sample(mean, x, zero, which); err != nil {
				t.Fatal(err)
			}
			if err := e.Sample(up, x, one, which); err != nil {
				t.Fatal(err)
			}
			y := float64(fresh.y[i][0])
			miss += (float64(mean[0]) - y) * (float64(mean[0]) - y)
			constant += y * y                                                   // the mean outcome is 0
			line += math.Pow(0.99*float64(x[0])-y, 2)                           // the slope of sin 3x over [−1, 1] by least squares
			if math.Abs(float64(mean[0])-y) < float64(up[0])-float64(mean[0]) { // one deviation
				within++
			}
		}
		n := float64(len(fresh.x))
		t.Logf("scaled %v: squared error %.4f, of the mean %.4f, of a line %.4f; %.3f within a deviation", scaled, miss/n, constant/n, line/n, float64(within)/n)
		if miss > 0.4*line || miss > 0.15*constant {
			t.Errorf("scaled %v: squared error %.4f, of a line %.4f", scaled, miss/n, line/n)
		}
		if share := float64(within) / n; share < 0.58 || share > 0.78 {
			t.Errorf("scaled %v: %.3f of the outcomes are within a deviation, want about 0.68", scaled, share)
		}
	}
}

// The constant guess is the mean outcome of the rows that are learned, judged on the others in the units
// of the errors beside it.
func TestTheConstantGuess(t *testing.T) {
	data := beside(100, "data", 3)
	for _, scaled := range []bool{false, true} {
		c := small()
		c.Scaled = scaled
		e := newEnsemble(t, c)
		fitted(t, e, data, Fit{Steps: 5, Rate: 1e-2, Refit: 1}, 5)
		rows := drawn{e.stream, 1}.split(100)
		want := 0.0
		for j := range 2 {
			mean, variance := 0.0, 0.0
			for _, i := range rows[20:] {
				mean += float64(data.y[i][j]) / 80
			}
			for _, i := range rows[20:] {
				variance += math.Pow(float64(data.y[i][j])-mean, 2) / 80
			}
			if !scaled {
				variance = 1
			}
			for _, i := range rows[:20] {
				want += math.Pow(float64(data.y[i][j])-mean, 2) / variance / 40
			}
		}
		if got := e.Serving().Constant; !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("scaled %v: %.6f, want %.6f", scaled, got, want)
		}
	}
}

// A sample belongs to its row: neither the other rows nor how many of them want one elite change it,
// and rows without an elite are left alone.
func TestSamplesBelongToTheirRows(t *testing.T) {
	data := noisy(100, "data")
	e := newEnsemble(t, small())
	fitted(t, e, data, Fit{Steps: 20, Rate: 1e-2, Refit: 1}, 20)
	n := data.Len()
	in, noise := []float32{}, make([]float32, 2*n)
	rng.New(9, "noise").FillNormal(noise, 1, 0)
	for _, x := range data.x {
		in = append(in, x...)
	}
	for _, which := range [][]int8{slices.Repeat([]int8{1}, n), slices.Repeat([]int8{0, 1, None, 1}, n/4)} {
		all := slices.Repeat([]float32{7}, 2*n)
		if err := e.Sample(all, in, noise, which); err != nil {
			t.Fatal(err)
		}
		for i, elite := range which {
			want := []float32{7, 7}
			if elite != None {
				if err := e.Sample(want, in[2*i:2*i+2], noise[2*i:2*i+2], which[i:i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(all[2*i:2*i+2], want) {
				t.Fatalf("row %d of elite %d is %v, alone %v", i, elite, all[2*i:2*i+2], want)
			}
		}
	}
}

// Initial weights are a normal distribution of deviation 1/(2√in) cut at twice that, whose deviation
// is 0.88 of it; biases are 0.
func TestInitialWeights(t *testing.T) {
	w, b := make([]float32, 20_000), []float32{1, 1}
	initial(w, b, 16, 2, rng.New(1, "weights"))
	square, largest := 0.0, 0.0
	for _, v := range w {
		square += float64(v) * float64(v) / float64(len(w))
		largest = max(largest, math.Abs(float64(v)))
	}
	if got := math.Sqrt(square) * 8; math.Abs(got-0.8796) > 0.01 || largest > 0.25 || largest < 0.24 || b[0] != 0 {
		t.Errorf("deviation %.4f of 1/8, largest %g, bias %g", got, largest, b[0])
	}
}

// What cannot be learned from or loaded is an error that says why.
func TestMisuse(t *testing.T) {
	bad := noisy(20, "data")
	bad.x[3][1] = float32(math.NaN())
	outcome := noisy(20, "data")
	outcome.y[5][0] = float32(math.Inf(1))
	e := newEnsemble(t, small())
	for want, data := range map[string]pairs{
		"4 real transitions, want at least 5": noisy(4, "data"),
		"column 1 of the inputs":              bad,
		"column 0 of the outcomes":            outcome,
	} {
		if err := e.StartFit(data, Fit{Steps: 5, Rate: 1, Refit: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := e.Sample(make([]float32, 2), make([]float32, 2), make([]float32, 2), []int8{0}); err == nil {
		t.Error("samples before a fit")
	}
	if _, _, err := e.FitSteps(1); err == nil {
		t.Error("steps of no fit")
	}
	for _, f := range []Fit{{Rate: 1}, {Steps: 1}, {Steps: 1, Rate: math.Inf(1)}} {
		if err := e.StartFit(noisy(20, "data"), f); err == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
	if err := e.StartFit(noisy(20, "data"), Fit{Steps: 5, Rate: 1, Refit: 1}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := e.Save(&file); err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < file.Len(); cut += 499 {
		if err := newEnsemble(t, small()).Load(bytes.NewReader(file.Bytes()[:cut]), noisy(20, "data")); err == nil {
			t.Errorf("%d of %d bytes were accepted", cut, file.Len())
		}
	}
	if err := newEnsemble(t, small()).Load(&file, nil); err == nil {
		t.Error("a fit without its rows was accepted")
	}
	for _, change := range []func(*Config){func(c *Config) { c.Elites = 4 }, func(c *Config) { c.Layers = 0 }, func(c *Config) { c.Patience = -1 }} {
		c := small()
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// Every elite predicts the outcomes that it samples: its mean without noise, and a deviation more with
// noise of one; in standardised units, and for any number of rows.
func TestPredictionsAreWhatIsSampled(t *testing.T) {
	c := small()
	c.Scaled = true
	e, data := newEnsemble(t, c), noisy(lookedAt+70, "data")
	if err := e.Predict(nil, nil, nil, 1); err == nil {
		t.Error("an ensemble predicts before its first fit")
	}
	fitted(t, e, data, Fit{Steps: 12, Rate: 1e-2, Refit: 1, Fresh: true}, 12)
	n, in := data.Len(), slices.Concat(data.x...)
	means, variances := make([]float32, c.Elites*n*c.Out), make([]float32, c.Elites*n*c.Out)
	if err := e.Predict(means, variances, in, n); err != nil {
		t.Fatal(err)
	}
	for elite := range c.Elites {
		which, mean, more, ones := make([]int8, n), make([]float32, n*c.Out), make([]float32, n*c.Out), make([]float32, n*c.Out)
		for i := range which {
			which[i] = int8(elite)
		}
		for i := range ones {
			ones[i] = 1
		}
		if err := e.Sample(mean, in, make([]float32, n*c.Out), which); err != nil {
			t.Fatal(err)
		}
		if err := e.Sample(more, in, ones, which); err != nil {
			t.Fatal(err)
		}
		for i, got := range means[elite*n*c.Out : (elite+1)*n*c.Out] {
			s, j := e.serving.Outcomes, i%c.Out
			want, deviation := (float64(mean[i])-s.Mean[j])/s.Deviation[j], float64(more[i]-mean[i])/s.Deviation[j]
			variance := float64(variances[elite*n*c.Out+i])
			if !(math.Abs(float64(got)-want) <= 1e-4) || !(math.Abs(math.Sqrt(variance)-deviation) <= 1e-4*(1+deviation)) {
				t.Fatalf("elite %d, number %d: mean %v and variance %v, sampled are %v and %v", elite, i, got, variance, want, deviation*deviation)
			}
		}
	}
}

// Gradient steps within an epoch and samples allocate nothing once they have their memory.
func TestSteadyStepsAllocateNothing(t *testing.T) {
	data := noisy(2000, "data")
	e := newEnsemble(t, small())
	if err := e.StartFit(data, Fit{Steps: 1000, Rate: 1e-3, Refit: 1}); err != nil {
		t.Fatal(err)
	}
	if n := allocs.Least(3, func() {
		if _, _, err := e.FitSteps(1); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("a gradient step allocates %v times", n)
	}
	fitted(t, e, data, Fit{Steps: 5, Rate: 1e-3, Refit: 1}, 5)
	const n = 600
	in, noise, out, which := make([]float32, 2*n), make([]float32, 2*n), make([]float32, 2*n), make([]int8, n)
	for i := range which {
		which[i] = int8(min(1, i%3)) // too many of one elite: a small call follows
	}
	if n := allocs.Least(3, func() {
		if err := e.Sample(out, in, noise, which); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("a sample allocates %v times", n)
	}
}

// Predictions of however many rows need few programs.
func TestPredictionsCompileLittle(t *testing.T) {
	e, data := newEnsemble(t, small()), noisy(200, "data")
	fitted(t, e, data, Fit{Steps: 6, Rate: 1e-2, Refit: 1, Fresh: true}, 6)
	compile, made := e.predictor.Compile, 0
	e.predictor.Compile = func(rows int) (*predictor, error) {
		made++
		return compile(rows)
	}
	c, in := e.config, slices.Concat(data.x...)
	for n := range data.Len() + 1 {
		if err := e.Predict(make([]float32, c.Elites*n*c.Out), make([]float32, c.Elites*n*c.Out), in, n); err != nil {
			t.Fatal(err)
		}
	}
	if made > 9 {
		t.Errorf("%d programs for up to %d rows", made, data.Len())
	}
}
