package pane

import (
	"slices"
	"testing"

	"pgrlab/core/knob"
)

func TestFormulasAreCompletedWordByWord(t *testing.T) {
	k, err := knob.Find("relevance")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Candidate{
		"curi":                    {Text: "curiosity"},
		"0.7*rank(td) + 0.3*curi": {Text: "0.7*rank(td) + 0.3*curiosity", About: "error of a learned model of the dynamics", Shown: "curiosity"},
		"0.7*rank(td) + 0.3*ran":  {Text: "0.7*rank(td) + 0.3*rank(", Shown: "rank(x)"},
		"mi":                      {Text: "mix(", Shown: "mix(0.7, x, 0.3, y, …)"},
	} {
		all := ValueCandidates(k, text)
		if !slices.ContainsFunc(all, func(c Candidate) bool {
			return c.Text == want.Text && c.Shown == want.Shown && (want.About == "" || c.About == want.About)
		}) {
			t.Errorf("%q is completed to %+v, want %+v among them", text, all, want)
		}
	}
	if all := ValueCandidates(k, "0.5 * "); len(all) != 0 {
		t.Errorf("nothing is completed to %+v", all)
	}
	hold, _ := knob.Find("hold")
	if all := ValueCandidates(hold, "rank(t"); len(all) != 0 {
		t.Errorf("a knob without formulas is completed to %+v", all)
	}
}
