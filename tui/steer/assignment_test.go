package steer

import "testing"

func TestAssignmentsAreTakenApart(t *testing.T) {
	for text, want := range map[string][2]string{
		"guidance 3":                       {"guidance", "3"},
		"ω=3!":                             {"ω", "3!"},
		" r  =  0.5 ":                      {"r", "0.5"},
		"relevance = 0.7*rank(td) + count": {"relevance", "0.7*rank(td) + count"},
		"F obs[0] == 1 ? td : 0":           {"F", "obs[0] == 1 ? td : 0"},
		"F==td":                            {"F", "=td"},
		"F":                                {"F", ""},
		"":                                 {"", ""},
	} {
		if name, value := assigned(text); name != want[0] || value != want[1] {
			t.Errorf("%q is %q and %q, want %q", text, name, value, want)
		}
	}
}
