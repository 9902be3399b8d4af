package outside

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/printable"
)

// Spec is what a program says of its environment.
type Spec struct {
	Obs        int       // numbers of an observation
	Act        int       // numbers of an action
	Choices    int       // actions to choose from; 0: actions are numbers, each in [Low, High]
	Low, High  []float64 // [Act], infinite where there is no bound
	Limit      int       // steps until an episode is truncated; 0: it does not say
	Terminates bool      // whether episodes can end by themselves
	Names      []string  // of the numbers of an observation, [Obs]; nil: it does not say
	State      bool      // whether it can save and load its state
	Picture    bool      // whether it can draw itself
}

// About is what a program says of itself beside that; it does not change what is learned.
type About struct {
	Name     string            `json:"name"`
	Versions map[string]string `json:"versions"` // of what it runs with
}

// wireSpec is Spec as programs write it. null stands for what is not known, and for no bound.
type wireSpec struct {
	About
	Protocol   int        `json:"protocol"`
	Obs        int        `json:"obs"`
	Act        int        `json:"act"`
	Actions    string     `json:"actions"`
	Low        []*float64 `json:"low"`
	High       []*float64 `json:"high"`
	Limit      *int       `json:"limit"`
	Terminates *bool      `json:"terminates"`
	Names      []string   `json:"names"`
	Can        []string   `json:"can"`
}

// most are limits on sizes that a program may ask for.
const (
	mostNumbers = 1 << 16
	mostSteps   = 1 << 24
)

func readSpec(body []byte) (s Spec, a About, err error) {
	var w wireSpec
	if err := json.Unmarshal(body, &w); err != nil {
		return s, a, fmt.Errorf("its spec cannot be read: %v", err)
	}
	printable.Fields(&w)
	s = Spec{Obs: w.Obs, Act: w.Act, Terminates: w.Terminates == nil || *w.Terminates, Names: w.Names, State: slices.Contains(w.Can, "state"), Picture: slices.Contains(w.Can, "picture")}
	if w.Limit != nil {
		s.Limit = *w.Limit
	}
	if w.Actions != "" {
		if n, err := fmt.Sscanf(w.Actions, "discrete(%d)", &s.Choices); n != 1 || err != nil || s.Choices < 2 || s.Choices > mostNumbers {
			return s, a, fmt.Errorf("its spec has actions %q: want discrete(n) with n from 2 to %d, or nothing for numbers", w.Actions, mostNumbers)
		}
		s.Act = 1
	}
	switch {
	case w.Protocol != Protocol:
		return s, a, fmt.Errorf("it speaks protocol %d, and this pgrlab speaks %d: pgrlab env-adapter writes an adapter that fits", w.Protocol, Protocol)
	case s.Obs < 1 || s.Obs > mostNumbers || s.Act < 1 || s.Act > mostNumbers:
		return s, a, fmt.Errorf("its spec has observations of %d and actions of %d numbers: want 1 to %d of each", s.Obs, s.Act, mostNumbers)
	case s.Limit < 0 || s.Limit > mostSteps:
		return s, a, fmt.Errorf("its spec has a limit of %d steps: want 1 to %d, or null", s.Limit, mostSteps)
	case len(s.Names) != 0 && len(s.Names) != s.Obs:
		return s, a, fmt.Errorf("its spec names %d of %d numbers of an observation: want all, or null", len(s.Names), s.Obs)
	}
	if s.Choices > 0 {
		return s, w.About, nil
	}
	if s.Low, err = bounds("low", w.Low, s.Act, math.Inf(-1)); err == nil {
		s.High, err = bounds("high", w.High, s.Act, math.Inf(1))
	}
	return s, w.About, err
}

// bounds are the lower or upper bounds of an action.
func bounds(what string, all []*float64, n int, none float64) ([]float64, error) {
	if len(all) != n {
		return nil, fmt.Errorf("its spec has %d bounds %q for actions of %d numbers: want one for each, null for none", len(all), what, n)
	}
	read := make([]float64, n)
	for i, b := range all {
		read[i] = none
		if b != nil {
			read[i] = *b
		}
	}
	return read, nil
}

// bound gives actions without bounds those of --act-bound; 0: it was not given.
func (s *Spec) bound(by float64) error {
	if !(by >= 0 && by <= largest) {
		return fmt.Errorf("--act-bound is %g: want a number above 0", by)
	}
	for i := range s.Low {
		if by > 0 {
			s.Low[i], s.High[i] = unless(s.Low[i], -by), unless(s.High[i], by)
		}
		switch low, high := s.Low[i], s.High[i]; {
		case math.IsInf(low, 0) || math.IsInf(high, 0):
			return fmt.Errorf("number %d of its actions has no bounds: say what to use: --act-bound 1", i)
		case !(low < high && low >= -largest && high <= largest):
			return fmt.Errorf("number %d of its actions is from %g to %g: want bounds that leave a choice", i, low, high)
		}
	}
	return nil
}

// unless is a bound, or the other one where there is none.
func unless(bound, otherwise float64) float64 {
	if math.IsInf(bound, 0) {
		return otherwise
	}
	return bound
}

// differs says how a program differs from what is expected of it; "" if it does not.
func (s *Spec) differs(from *Spec) string {
	switch {
	case s.Obs != from.Obs:
		return fmt.Sprintf("its observations have %d numbers, and had %d", s.Obs, from.Obs)
	case s.Choices != from.Choices:
		return fmt.Sprintf("it has %d actions to choose from, and had %d", s.Choices, from.Choices)
	case s.Act != from.Act:
		return fmt.Sprintf("its actions have %d numbers, and had %d", s.Act, from.Act)
	case !slices.Equal(s.Low, from.Low) || !slices.Equal(s.High, from.High):
		return fmt.Sprintf("its actions are in %v to %v, and were in %v to %v", s.Low, s.High, from.Low, from.High)
	case s.Limit != from.Limit:
		return fmt.Sprintf("its episodes have at most %d steps, and had %d (0: no limit)", s.Limit, from.Limit)
	case s.Terminates != from.Terminates:
		return fmt.Sprintf("that its episodes can end by themselves is %t, and was %t", s.Terminates, from.Terminates)
	}
	return ""
}

// name is what number i of an observation is called.
func (s *Spec) name(i int) string {
	if i < len(s.Names) {
		return s.Names[i]
	}
	return fmt.Sprintf("number %d", i)
}

// largest is more than a number of an observation or a reward that means anything.
const largest = 1e10

// strange says what is wrong with an observation; "": nothing.
func (s *Spec) strange(obs []float32) string {
	for i, x := range obs {
		if !(x >= -largest && x <= largest) { // NaN as well
			return fmt.Sprintf("%s of its observation is %v: want a finite number of at most %g", s.name(i), x, float64(largest))
		}
	}
	return ""
}
