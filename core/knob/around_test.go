package knob

import (
	"fmt"
	"testing"
)

func TestValuesAroundAStagedOne(t *testing.T) {
	for _, c := range []struct {
		knob        string
		now, wanted float64
		want        string
	}{
		{"guidance", 2, 3, "[0 1 2 3 4]"},
		{"guidance", 2, 2.25, "[0 1 2 2.25 4]"},
		{"guidance", 2, 9, "[0 1 2 3 9]"},
		{"guidance", 0, 1, "[0 1 2 3 4]"},
		{"guidance", 10, 8, "[6 7 8 9 10]"},
		{"top_fraction", 0.25, 0.3, "[0.05 0.25 0.3 0.65 0.85]"},
		{"sampler_steps", 16, 20, "[5 10 16 20 50]"},
		{"sampler_steps", 2, 5, "[2 5 10 20 50]"},
		{"s_churn", 0, 10, "[0 10 80 120 160]"},
		{"horizon", 1, 2, "[1 2 9 13 17]"},
	} {
		k, err := Find(c.knob)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(k.Around(Number(c.now), Number(c.wanted), 5)); got != c.want {
			t.Errorf("%s %g, wanted %g: %s, want %s", c.knob, c.now, c.wanted, got, c.want)
		}
	}
	k, _ := Find("relevance")
	if got := k.Around(Choice("td"), Choice("reward"), 5); got != nil {
		t.Errorf("a choice has %v", got)
	}
}
