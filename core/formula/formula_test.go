package formula

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/testing/allocs"
)

// state is what the formulas of these tests are about.
type state struct {
	numbers [][]float64
	draws   float64 // the last random number
}

var stateNames = []string{"td", "reward", "done", "obs", "next", "xpos", "prev.obs"}

func (s *state) Names() []string { return stateNames }

func (s *state) Quantity(name, of string) (Quantity, error) {
	switch name + of {
	case "td":
		return Quantity{Slot: 0}, nil
	case "reward":
		return Quantity{Slot: 1}, nil
	case "done":
		return Quantity{Slot: 2, Flag: true}, nil
	case "obs":
		return Quantity{Slot: 3, Width: 4, Elements: []string{"x", "height", "pitch speed", "speed"}}, nil
	case "prev.obs":
		return Quantity{Slot: 4, Width: 4}, nil
	case "xpostip":
		return Quantity{Slot: 5, Width: 3}, nil
	}
	if name == "xpos" {
		return Quantity{}, fmt.Errorf("there is no body %q: want tip", of)
	}
	return Quantity{}, ErrUnknown
}

func (s *state) Random(name string) (Random, bool) {
	return Random{Slot: 7, Params: 2, Width: 4}, name == "uniform"
}

func (s *state) Read(dst []float64, slot, element, row, rows int) {
	copy(dst, s.numbers[slot][element:])
}

// Draw counts: values are 1, 2, 3 … above the lower bound.
func (s *state) Draw(dst []float64, slot int, args [][]float64) {
	for i := range dst {
		s.draws++
		dst[i] = args[0][min(i, len(args[0])-1)] + s.draws
	}
}

func aState() *state {
	return &state{numbers: [][]float64{{-0.5}, {2}, {1}, {1, 2, 3, 4}, {0, 0, 1, 1}, {0.25, 0.5, 0.75}}}
}

func TestValues(t *testing.T) {
	s := aState()
	for _, c := range []struct {
		text string
		want float64
	}{
		{"1 + 2*3 - 4/8", 6.5},
		{"1/2", 0.5}, // whole numbers divide as others
		{"-2^2", -4},
		{"2^3^2", 512},
		{"2**-1", 0.5},
		{"7 % 4 + -7 % 4", 0},
		{"abs(td) + 0.1*reward", 0.7},
		{"sign(td) + sign(0) + sign(3)", 0},
		{"td > 0 ? 1 : 2", 2},
		{"-1 < td < 0 <= reward ? 1 : 2", 1},
		{"not (td > 0) and done ? 1 : 0", 1},
		{"done ? 5 : 6", 5},
		{"1 - done", 0},
		{"if reward >= 2 { 1 } else if td > 0 { 2 } else { 3 }", 1},
		{"let a = abs(td); let b = a + 1; a*b", 0.75},
		{"(let a = 1; a) + (let a = 2; a)", 3},
		{"obs[3] + obs[\"pitch speed\"]", 7},
		{"norm(obs[1:3])", math.Sqrt(13)},
		{"sum(obs) + mean(obs[2:]) + min(obs) + max(obs[:2])", 10 + 3.5 + 1 + 2},
		{"dot(obs, [1, 0, 0, 2])", 9},
		{"sum(obs - prev.obs)", 8},
		{"(obs - prev.obs)[3]", 3},
		{"norm(xpos(\"tip\") * 2)", 2 * math.Sqrt(0.0625+0.25+0.5625)},
		{"sum(clip(obs, 2, 3))", 10},
		{"max(1, td, reward)", 2},
		{"sum(max(obs, 2))", 11},
		{"log(exp(2)) + log1p(0) + sqrt(16) + floor(-0.5)", 5},
		{"tanh(0) + sigmoid(0) + sin(0) + cos(0)", 1.5},
		{"tolerance(td, 0, inf, 1, 0.5, \"linear\")", 0.75},
		{"tolerance(reward, 0, 1)", 0},
		{"sum(done ? obs : prev.obs)", 10},
		{"1_000 // a comment", 1000},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		p, err := f.Number(s)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := p.Machine(s, 1).Number(); math.Abs(got-c.want) > 1e-15*math.Abs(c.want) {
			t.Errorf("%s is %v, want %v", c.text, got, c.want)
		}
		again, err := Parse(f.String())
		if err != nil || again.String() != f.String() {
			t.Errorf("%s is printed as %s, which is read as %v, %v", c.text, f, again, err)
			continue
		}
		if p, err = again.Number(s); err != nil {
			t.Errorf("%s: %v", again, err)
		} else if got := p.Machine(s, 1).Number(); math.Abs(got-c.want) > 1e-15*math.Abs(c.want) {
			t.Errorf("%s, printed as %s, is %v, want %v", c.text, f, got, c.want)
		}
	}
}

func TestCanonicalText(t *testing.T) {
	for text, want := range map[string]string{
		"0.70*rank( td )+3e-1 * rank(curiosity)": "0.7 * rank(td) + 0.3 * rank(curiosity)",
		"((a))-(b-c)":                            "a - (b - c)",
		"(a-b)-c":                                "a - b - c",
		"-(a^2)*b":                               "-(a ^ 2) * b",
		"(a^b)^c":                                "(a ^ b) ^ c",
		"a and (b or c) && not d":                "a and (b or c) and not d",
		"0 < a <= 1":                             "0 < a <= 1",
		"a ? b : (c ? d : e)":                    "a ? b : c ? d : e",
		"(a ? b : c) ? d : e":                    "(a ? b : c) ? d : e",
		"let q = a; q*q":                         "let q = a; q * q",
		"obs[\"x y\"] + prev.obs[1:][0]":         "obs[\"x y\"] + prev.obs[1:][0]",
		"1000000000000000000000.0":               "1e+21",
	} {
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if f.String() != want {
			t.Errorf("%s is printed as %s, want %s", text, f, want)
		}
	}
}

func TestErrorsShowTheirPlace(t *testing.T) {
	s := aState()
	for _, c := range []struct{ text, what, caret string }{
		{"rewrad + 1", `no quantity "rewrad" (did you mean reward?)`, "^"},
		{"1 + sqr(td)", `no function "sqr" (did you mean sqrt?)`, "    ^"},
		{"1 + sqrt", `sqrt is a function: write sqrt(x)`, "    ^"},
		{"sqrt(1, 2, 3)", "sqrt takes one number, not 3: sqrt(x)", "^"},
		{`tolerance(td, 0, 1, "linear", 2)`, `the shape of tolerance is its last argument: tolerance(x, lo, hi, margin=0, value=0.1, "gaussian")`, strings.Repeat(" ", 20) + "^"},
		{"td + obs[4]", "obs has 4 numbers: 0 to 3", "         ^"},
		{"obs[td]", "an index needs a number that stands in the formula", "    ^"},
		{"obs[\"size\"]", `obs has no element "size": want one of x, height, pitch speed, speed`, "    ^"},
		{"obs", "the formula needs one number, not 4 numbers: pick one by [0], or take norm, sum, mean, min or max", "^"},
		{"td[0]", "td is one number and has no elements", "^"},
		{"sum(obs[1:1])", "obs[1:1] is empty", "       ^"},
		{"norm(obs + obs[1:])", "+ joins vectors of 4 and 3 numbers", "         ^"},
		{"xpos(\"toe\")[0]", `there is no body "toe": want tip`, "^"},
		{"reward ? 1 : 2", "want a condition here, such as x > 0, not a number", "^"},
		{"1 + (td > 0)", "want a number here, not a condition: write (… ? 1 : 0)", "        ^"},
		{"1 + log(0 - 1)", "log of -1 is NaN", "    ^"},
		{"td + 1/0", "1 / 0 is +Inf", "      ^"},
		{"10^400", "10 ^ 400 is +Inf", "  ^"},
		{"1e400", "the number is too large: want at most 1e308, and an exponent from 20 digits on", "    ^"},
		{"td +", "the formula ends too early", "    ^"},
		{"td * * 2", `"*" is not expected here`, "     ^"},
		{"", "the formula is empty", "^"},
		{"td in obs", "in is no operator of formulas", "   ^"},
		{"{a: 1}", "{} is not part of formulas", "^"},
		{"td; td", "a formula has one value: only let is followed by ;", "^"},
		{"let abs = 1; abs", "abs is a function: give the variable another name", "    ^"},
		{"let a = 1; let a = a; a", "a is defined already: give the variable another name", "               ^"},
		{"rank(td)", "rank is of a whole column, and this formula sees one row at a time", "^"},
		{"uniform(1)", "uniform takes 2 numbers, not 1", "^"},
		{"tolerance(td, 1, 0)", "tolerance has its lower bound 1 above its upper bound 0", "^"},
		{"tolerance(td, 0, 1, 1, 0)", "tolerance has the value 0 at the margin, want more than 0 and less than 1 for gaussian", "^"},
		{"tolerance(td, 0, 1, 1, 0, \"line\")", `no shape "line": want one of ` + shapes(), "                          ^"},
		{"max(td)", "max takes several numbers or one vector, not one number", "^"},
		{"\"td\"", "a text is no number: names are written without quotes", "^"},
		{strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + "+", "the formula ends too early", strings.Repeat(" ", 41) + "^"},
		{strings.Repeat("-", 200) + "1", "the formula is nested deeper than 100: name parts of it by let", strings.Repeat(" ", 41) + "^"},
		{strings.Repeat("1+", 600) + "1", "the formula has more than 1000 parts", strings.Repeat(" ", 41) + "^"},
		{strings.Repeat("1+", 3000) + "1", "the formula has 6001 bytes, want at most 4096", "^"},
	} {
		f, err := Parse(c.text)
		if err == nil {
			_, err = f.Number(s)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.40s: error is %v, want %s", c.text, err, c.what)
			continue
		}
		_, caret, _ := strings.Cut(e.Caret(), "\n")
		if e.What != c.what || caret != c.caret {
			t.Errorf("%.40s: error is\n%s\n%s\nwant\n%s\n%s", c.text, e.What, e.Caret(), c.what, c.caret)
		}
	}
}

func TestEvaluationAllocatesNothing(t *testing.T) {
	s := aState()
	f, err := Parse("tolerance(obs[1], 1.2, inf, 0.6) * (1 + 5*clip((obs[0] - prev.obs[0])/0.1, 0, 1))/6 - 0.1*sum(obs*obs) + norm(xpos(\"tip\"))")
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Number(s)
	if err != nil {
		t.Fatal(err)
	}
	m := p.Machine(s, 1)
	if n := allocs.Least(100, func() { m.Number() }); n != 0 {
		t.Errorf("an evaluation allocates %v times", n)
	}
}

func TestRandomNumbersAreDrawnInTheOrderOfTheText(t *testing.T) {
	for text, want := range map[string][]float64{
		"uniform(0, 1)": {1, 2, 3, 4},
		"obs + uniform(10, 20) - uniform(10, 20)": {-3, -2, -1, 0},
		"[uniform(0, 1), 7, uniform(-2, 2)]":      {1, 7, 0},
		"let u = uniform(0, 1); u - u":            {0, 0, 0, 0},
		"uniform(obs, 1)":                         {2, 4, 6, 8},
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := aState()
		p, err := f.Vector(s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := make([]float64, p.Width())
		p.Machine(s, 1).Vector(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

func TestTroubleNamesTheCause(t *testing.T) {
	s := aState()
	for text, want := range map[string]string{
		"1 + log(td)":               "log of -0.5 (column 5)",
		"reward/(done - 1)":         "2 / 0 (column 7)",
		"max(1, sqrt(-reward))":     "sqrt of -2 (column 8)",
		"reward^(reward*1000)":      "2 ^ 2000 (column 7)",
		"done ? 1 : log(td)":        "",
		"exp(1000*reward) + obs[0]": "exp of 2000 (column 1)",
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Number(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Machine(s, 1).Trouble(0); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	s.numbers[3][2] = math.NaN()
	f, _ := Parse("1 + norm(obs[1:3])")
	p, err := f.Number(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Machine(s, 1).Trouble(0), "obs[1:3] is NaN (column 13)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzFormulas(f *testing.F) {
	for _, text := range []string{"0.7*rank(td) + 0.3*abs(reward)", "let a = norm(obs[1:]); a > 0 ? a : -a^2", "0 < td < reward < 1 and not done", "if done { 1 } else { 2 }",
		"tolerance(obs[\"height\"], 1, inf, 2, 0.5, \"linear\")", "sum([1, uniform(0, 1)])", "td | abs()", "count(obs, # > 1)", "prev.obs[0]?.x", "1e400 + 0x1p4"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := aState()
		parsed, err := Parse(text)
		var p *Program
		if err == nil {
			p, err = parsed.Number(s)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || strings.Contains(e.Error(), "\n") {
				t.Fatalf("error is %v, want one line with a place", err)
			}
			e.Caret()
			return
		}
		got := p.Machine(s, 1).Number()
		again, err := Parse(parsed.String())
		if err != nil && len(parsed.String()) <= MaxBytes && !deep(err) {
			t.Fatalf("%q is printed as %q: %v", text, parsed, err)
		}
		if err != nil {
			return
		}
		if again.String() != parsed.String() {
			t.Fatalf("%q is printed as %q, and that as %q", text, parsed, again)
		}
		if p, err = again.Number(s); err != nil {
			t.Fatalf("%q, printed as %q: %v", text, parsed, err)
		}
		s.draws = 0
		if g := aState(); math.Float64bits(p.Machine(g, 1).Number()) != math.Float64bits(got) && !math.IsNaN(got) {
			t.Fatalf("%q is %v, printed as %q it is not", text, got, parsed)
		}
	})
}

// deep says whether err is of a limit.
func deep(err error) bool {
	return strings.Contains(err.Error(), "nested deeper") || strings.Contains(err.Error(), "more than")
}

func BenchmarkReward(b *testing.B) {
	s := aState()
	f, err := Parse("tolerance(obs[1], 1.2, inf, 0.6) * (1 + 5*clip((obs[0] - prev.obs[0])/0.1, 0, 1))/6")
	if err != nil {
		b.Fatal(err)
	}
	p, err := f.Number(s)
	if err != nil {
		b.Fatal(err)
	}
	m := p.Machine(s, 1)
	b.ReportAllocs()
	for b.Loop() {
		m.Number()
	}
}

// Rows that are all beyond the numbers have the mean of their ranks, as others that are alike.
func TestRankOfInfinities(t *testing.T) {
	inf := math.Inf(1)
	c := Column{column: column{function: "rank"}}
	c.begin()
	c.add([]float64{1, inf, inf, inf, inf})
	c.end(nil)
	if got := c.rank(inf); got != 0.625 {
		t.Errorf("rank %v, want 0.625", got)
	}
}
