package knob

import (
	"reflect"
	"strings"
	"testing"

	"pgrlab/core/relevance"
)

// valid returns settings that every method could have.
func valid() Settings {
	return Settings{
		Relevance: "none", Guidance: 2, TopFraction: 0.25, Ratio: 0.5, Hold: HoldBatch, UTD: 2, Batch: 8,
		LRActor: 1e-3, LRCritic: 1e-3, Tau: 0.005, RefitEvery: 10, Samples: 16, SamplerSteps: 8, SChurn: 80,
		GeneratorSteps: 6, LRGenerator: 1e-3, PUncond: 0.25,
	}
}

// The table has an entry for every field of Settings, and only these.
func TestKnobTableIsComplete(t *testing.T) {
	fields := map[string]bool{}
	for i := range reflect.TypeFor[Settings]().NumField() {
		fields[reflect.TypeFor[Settings]().Field(i).Tag.Get("toml")] = true
	}
	s := valid()
	for _, k := range All() {
		if !fields[k.Name] {
			t.Errorf("knob %s is no setting, or is there twice", k.Name)
		}
		delete(fields, k.Name)
		if k.Doc == "" {
			t.Errorf("%s: no doc or no method", k.Name)
		}
		if k.Kind == KindChoice && len(k.Choices) < 2 || k.Kind != KindChoice && !(k.Max > k.Min) {
			t.Errorf("%s: no range", k.Name)
		}
		v, _ := s.Get(k.Name)
		again, err := k.Parse(v.String())
		if err != nil || again != v {
			t.Errorf("%s: %s reads back as %v, %v", k.Name, v, again, err)
		}
	}
	if len(fields) > 0 {
		t.Errorf("settings without a knob: %v", fields)
	}
	k, _ := Find("relevance")
	for _, name := range relevance.Names() {
		if err := k.Check(Choice(name)); err != nil {
			t.Error(err)
		}
	}
	if len(k.Choices) != len(relevance.Names()) {
		t.Errorf("choices %v, functions %v", k.Choices, relevance.Names())
	}
}

// From any value, repeated steps of a knob in one direction stay in range, change the value, and
// end.
func TestNextWalksThroughTheRange(t *testing.T) {
	for _, k := range All() {
		s := valid()
		for _, by := range []int{1, -1} {
			v, _ := s.Get(k.Name)
			for range 20000 {
				next := k.Next(v, by)
				if err := k.Check(next); err != nil {
					t.Fatalf("%s: after %s comes %v", k.Name, v, err)
				}
				if next == v {
					break
				}
				if k.Kind != KindChoice && (next.Number > v.Number) != (by > 0) {
					t.Fatalf("%s: after %s comes %s in direction %d", k.Name, v, next, by)
				}
				v = next
			}
			if k.Next(v, by) != v {
				t.Errorf("%s: no end in direction %d: %s", k.Name, by, v)
			}
		}
	}
	for _, c := range []struct {
		knob, from string
		by         int
		want       string
	}{
		{"guidance", "2", 1, "2.25"}, {"guidance", "2.1", -1, "2"}, {"guidance", "0", -1, "0"}, {"guidance", "2", -8, "0"},
		{"ratio", "0.5", 1, "0.625"}, {"batch", "256", 1, "500"}, {"batch", "256", -1, "200"}, {"batch", "1", 1, "2"},
		{"lr_actor", "0.0003", 1, "0.0005"}, {"lr_actor", "0.0003", -1, "0.0002"}, {"lr_actor", "0.001", -1, "0.0005"},
		{"lr_actor", "0", 1, "1e-06"}, {"lr_actor", "0", -1, "0"},
		{"top_fraction", "0.05", -1, "0.05"}, {"relevance", "td", 1, "td-signed"}, {"relevance", "none", 1, "none"},
		{"refit_every", "10000", 1, "20000"}, {"utd", "20", 1, "21"},
	} {
		k, err := Find(c.knob)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := k.Parse(c.from)
		if got := k.Next(from, c.by).String(); got != c.want {
			t.Errorf("%s: %+d from %s is %s, want %s", c.knob, c.by, c.from, got, c.want)
		}
	}
}

func TestParsingKnobs(t *testing.T) {
	for _, c := range []struct{ knob, text, want, err string }{
		{"samples", "1_000_000", "1000000", ""},
		{"lr_actor", " 3e-4 ", "0.0003", ""},
		{"ratio", "1.5", "", "ratio: 1.5 is out of range: want a number from 0 to 1"},
		{"ratio", "NaN", "", "ratio: NaN is out of range: want a number from 0 to 1"},
		{"top_fraction", "0", "", "top_fraction: 0 is out of range: want a number above 0 to 1"},
		{"utd", "x", "", `utd: "x" is not a number: want a count from 1 to 40`},
		{"hold", "", "", `hold: "" is no choice: want one of batch, real`},
		{"hold", "foo", "", `hold: "foo" is no choice: want one of batch, real`},
		{"hold", "batchh", "", `hold: "batchh" is no choice: did you mean "batch"?`},
	} {
		k, err := Find(c.knob)
		if err != nil {
			t.Fatal(err)
		}
		v, err := k.Parse(c.text)
		if c.err != "" && (err == nil || err.Error() != c.err) || c.err == "" && (err != nil || k.Format(v) != c.want) {
			t.Errorf("%s=%q: %v, %v", c.knob, c.text, v, err)
		}
	}
	for name, want := range map[string]string{"guid": "guidance", "utdd": "utd", "lr-actor": "lr_actor", "ration": "ratio", "refit": "refit_every"} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), `did you mean "`+want+`"?`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKnobsReturnsACopy(t *testing.T) {
	All()[0].Name = "changed"
	if All()[0].Name == "changed" {
		t.Error("the table can be written to")
	}
}

func TestPositions(t *testing.T) {
	ordered := []Position{After(0), {1, Score, 0}, {1, Fit, 0}, {1, Fit, 7}, {1, Generate, 2}, {1, Evaluate, 25}, After(1), {2, Fit, 0}}
	for i, p := range ordered {
		again, err := ParsePosition(p.String())
		if err != nil || again != p {
			t.Errorf("%s reads back as %+v, %v", p, again, err)
		}
		for j, q := range ordered {
			if p.Before(q) != (i < j) {
				t.Errorf("%s before %s is %v", p, q, p.Before(q))
			}
		}
	}
}

func FuzzScheduledReadsBack(f *testing.F) {
	for _, text := range []string{"10000:guidance=3", "20000/fit:37:relevance=td!", "5/generate:0:s_churn=1e2", "1_000:a=b=c", ":=", "0/fit:1:x=y", "9:x=!!"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScheduled(text)
		if err != nil {
			return
		}
		again, err := ParseScheduled(s.String())
		if err != nil || again != s {
			t.Fatalf("%q is %+v, which reads back as %+v, %v", text, s, again, err)
		}
	})
}

// A symbol that keyboards lack has a name in their letters, which is no other knob's.
func TestEverySymbolCanBeTyped(t *testing.T) {
	for _, k := range All() {
		typed := k.Name
		for _, r := range k.Symbol {
			if r > '~' && k.Name != "tau" { // τ is called tau
				typed = k.Typed
			}
		}
		if found, err := Find(typed); err != nil || found.Name != k.Name {
			t.Errorf("%s %s typed as %q is %q, %v", k.Name, k.Symbol, typed, found.Name, err)
		}
	}
}

// A value of F is a name or a formula, which is kept in its canonical form.
func TestFormulasAreValuesOfRelevance(t *testing.T) {
	k, err := Find("F")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"td-signed": "td-signed", "=0.70*rank( td )": "=0.7 * rank(td)", " abs(td)+0.1*curiosity ": "=abs(td) + 0.1 * curiosity", "=td": "=td",
	} {
		if v, err := k.Parse(text); err != nil || v.Text != want || k.Check(v) != nil {
			t.Errorf("%q is read as %q (%v), want %q", text, v.Text, err, want)
		}
	}
	for text, want := range map[string]string{
		"q_std":         `relevance: "q_std" is a formula: write =q_std`,
		"curiousity":    `relevance: "curiousity" is no choice: did you mean "curiosity"?`,
		"=curiousity":   `relevance: no quantity "curiousity" (did you mean curiosity?) (column 1)`,
		"0.5*td + ":     "relevance: the formula ends too early (column 9)",
		"=":             "relevance: the formula is empty (column 1)",
		"=sqrt(td, td)": "relevance: sqrt takes one number, not 2: sqrt(x) (column 1)",
	} {
		_, err := k.Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	if v := k.Next(Choice("=td"), 1); v.Text != k.Choices[0] {
		t.Errorf("after a formula comes %q", v.Text)
	}
}
