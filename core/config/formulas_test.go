package config

import (
	"strings"
	"testing"
)

func TestFormulasHaveNames(t *testing.T) {
	c := New()
	c.Formulas = map[string]Formula{"surprise": {Formula: "0.70*rank(td)+0.3*rank( curiosity )", Doc: "unexpected"}}
	c.Knobs.Relevance = "surprise"
	c.Schedule = []string{"100:relevance=surprise!", "200:relevance=td", "300:guidance=2"}
	if err := c.NameFormulas(); err != nil {
		t.Fatal(err)
	}
	const want = "=0.7 * rank(td) + 0.3 * rank(curiosity)"
	if c.Knobs.Relevance != want || strings.Join(c.Schedule, " | ") != "100:relevance="+want+"! | 200:relevance=td | 300:guidance=2" {
		t.Errorf("F is %s, the schedule %q", c.Knobs.Relevance, c.Schedule)
	}
	if got := c.Written("hold", "surprise"); got != "surprise" {
		t.Errorf("as a value of another knob the name is %s", got)
	}
	for name, f := range map[string]string{"td": "td", "wrong": "0.5*tdd"} {
		c.Formulas = map[string]Formula{name: {Formula: f}}
		if err := c.NameFormulas(); err == nil || !strings.HasPrefix(err.Error(), "[relevance."+name+"]: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestABonusIsAFormulaOfSingleBatches(t *testing.T) {
	for text, want := range map[string]string{
		"=clip(curiosity, 0, 1) + 0.1*move + abs(td)": "",
		"=clip(1 - age/5000, 0, 1)":                   "names age",
		"=rank(curiosity)":                            "functions of a whole column",
		"=count":                                      "names count, which is known at refits only",
		"=curiousity":                                 "did you mean curiosity?",
	} {
		err := Bonus{Function: text, Scale: ScaleReturns}.validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
