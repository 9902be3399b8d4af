package report

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/report"
	"pgrlab/core/rng"
)

// The parts of a row that a kind of D_syn has from elsewhere than resample: a kind is the sum of its parts.
const (
	generatedStates = 1 << iota
	policyActions
	simulatedOutcomes
	kinds
)

// Part 10 of the study says what the states, the actions and the outcomes of synthetic rows are worth:
// what its forty runs give.
func TestWorthOfThePartsOfARow(t *testing.T) {
	pages := map[string]string{"README.md": "", "docs/evidence/study.md": "", "presets/lessons/worth.toml": ""}
	for page := range pages {
		text, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		pages[page] = string(text)
	}
	runs := kindsOfRows(t)
	for _, c := range []struct {
		claim            string
		part             int
		value, low, high float64
		p                float64
	}{
		{"+80 [+36, +123]", generatedStates, 80.5, 36.4, 122.6, 0.0017},
		{"−37 [−80, +6]", policyActions, -36.8, -80.1, 6.5, 0.134},
		{"−9 [−53, +34]", simulatedOutcomes, -9.3, -52.7, 33.6, 0.697},
	} {
		effect := func(s [][]float64) (sum float64) {
			for kind := range kinds {
				if kind&c.part == 0 {
					sum += report.Mean(s[kind|c.part]) - report.Mean(s[kind])
				}
			}
			return sum / (kinds / 2)
		}
		of := rng.New(1, "parts")
		between := report.Bootstrap(of, runs[:], effect)
		p := dealtAgain(of.Sub("dealt"), runs, c.part, effect)
		for page, text := range pages {
			if !strings.Contains(text, c.claim) {
				t.Errorf("%s does not have %s", page, c.claim)
			}
		}
		if c.part == generatedStates {
			words := regexp.MustCompile(`p times three comparisons ` + number).FindStringSubmatch(pages["README.md"])
			if words == nil {
				t.Fatal("README.md has no p of the states")
			}
			if v, round := parsed(t, words[1]); math.Abs(v-3*p) > round+0.1*v {
				t.Errorf("README.md has %q, the results %.4f", words[0], 3*p)
			}
		}
		// p is given to two digits or three decimals, and varies by some percent with the draws.
		if math.Abs(effect(runs[:])-c.value) > 0.6 || math.Abs(between.Low-c.low) > 3 || math.Abs(between.High-c.high) > 3 || math.Abs(p-c.p) > 0.0005+0.1*c.p {
			t.Errorf("part %d: the study has %s, the results %+.1f [%+.1f, %+.1f], p %.3f", c.part, c.claim, effect(runs[:]), between.Low, between.High, p)
		}
	}
}

// Beside the bootstrap's intervals stand Welch's of the same contrasts.
func TestWelchOfTheParts(t *testing.T) {
	runs := kindsOfRows(t)
	var want []float64
	for _, part := range []int{generatedStates, policyActions, simulatedOutcomes} {
		var cells []cell
		for kind, scores := range runs {
			weight := 2.0 / kinds
			if kind&part == 0 {
				weight = -weight
			}
			cells = append(cells, cell{weight, scores})
		}
		want = append(want, contrast(cells)...)
	}
	holds(t, "docs/evidence/study.md", "contrasts are wider: "+interval+", "+interval+" and "+interval, want, 0)
	holds(t, "README.md", `\(Welch's interval \[`+number+`, `+number+`\], p times three`, want[1:3], 0)
}

// kindsOfRows are the scores of the forty runs, by kind and then by seed.
func kindsOfRows(t *testing.T) (all [kinds][]float64) {
	t.Helper()
	for _, r := range evaluations(t, "docs/evidence/study-parts.csv", "docs/evidence/study-controls.csv") {
		if r.Task != "cheetah-run" || r.Scale != "short" || r.Step < 20_000 || r.Seed < 61 || r.Seed > 65 {
			continue
		}
		kind, head := 0, strings.Contains(r.Variant, "generator.head.kind=transition")
		switch {
		case r.Method == "synther":
			kind, head = generatedStates, true
		case r.Method != "resample":
			continue
		case r.Variant == "" && strings.HasPrefix(r.Version, "690e18f2"): // part 8 has it
			continue
		}
		if strings.Contains(r.Variant, "generator.actions=policy") {
			kind |= policyActions
		}
		if !head || strings.Contains(r.Variant, "generator.outcomes=simulator") {
			kind |= simulatedOutcomes
		}
		all[kind] = append(all[kind], score(r, 16_000, 20_000))
	}
	for kind, scores := range all {
		if len(scores) != 5 {
			t.Fatalf("kind %03b has %d runs", kind, len(scores))
		}
	}
	return all
}

// dealtAgain returns the two-sided p of a part's effect: how often it is as large if the runs of the two
// kinds that differ in that part alone are dealt between the two at random (Phipson and Smyth 2010).
func dealtAgain(s rng.Stream, runs [kinds][]float64, part int, effect func([][]float64) float64) float64 {
	const dealings = 20_000
	seen := math.Abs(effect(runs[:])) - 1e-9
	hits, order := 1, make([]int, 0, 16)
	for n := range dealings {
		draws := s.At(uint64(n))
		var dealt [kinds][]float64
		for kind := range kinds {
			if kind&part != 0 {
				continue
			}
			both := append(append([]float64(nil), runs[kind]...), runs[kind|part]...)
			order = order[:len(both)]
			for i := range order {
				order[i] = i
			}
			for i := len(order) - 1; i > 0; i-- {
				j := draws.IntN(i + 1)
				order[i], order[j] = order[j], order[i]
			}
			for i, at := range order {
				to := kind
				if i >= len(runs[kind]) {
					to |= part
				}
				dealt[to] = append(dealt[to], both[at])
			}
		}
		if math.Abs(effect(dealt[:])) >= seen {
			hits++
		}
	}
	return float64(hits) / (dealings + 1)
}
