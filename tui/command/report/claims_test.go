package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/report"
	"pgrlab/core/rng"
)

// What README and the pages of evidence say about differences between methods is what the files of
// results give: all runs that were made, by the score that the study's protocol fixes.
func TestClaimsAreWhatTheResultsGive(t *testing.T) {
	const (
		first   = "docs/evidence/study.csv"
		bounded = "docs/evidence/study-bounded.csv"
		aside   = "docs/evidence/study-stopped.csv"
		joint   = "generator.vector=transition"
		plain   = "guidance=1.0, top_fraction=1.0"
	)
	for _, c := range []struct {
		claim    string
		pages    []string
		a, b     sample
		low, top float64 // the interval as the pages have it
		value    float64
	}{
		{"+24 [−12, +65]", []string{"README.md", "docs/evidence/study.md", "docs/evidence/README.md"},
			sample{"pgr-curiosity", "", []string{bounded, aside}, 40}, sample{"synther", "", []string{bounded, aside}, 40}, -12, 65, 24},
		{"+39 [+0.5, +81]", []string{"README.md", "docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{bounded}, 30}, sample{"synther", "", []string{bounded}, 30}, 0.5, 81.4, 39},
		{"−16 [−54, +25]", []string{"README.md", "docs/evidence/study.md"},
			sample{"pgr-curiosity", joint, []string{first}, 30}, sample{"synther", joint, []string{first}, 30}, -54, 25, -16},
		{"+7 [−64, +56]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{first}, 30}, sample{"synther", "", []string{first}, 30}, -64, 56, 7},
		{"−12 [−115, +92]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{aside}, 10}, sample{"synther", "", []string{aside}, 10}, -115, 92, -12},
		{"+18 [−12, +48]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{first, bounded, aside}, 70}, sample{"synther", "", []string{first, bounded, aside}, 70}, -12, 48, 18},
		{"+44 [+11, +105]", []string{"docs/evidence/study.md", "docs/evidence/README.md"},
			sample{"pgr-return", "", []string{bounded}, 10}, sample{"synther", "", []string{bounded}, 30}, 11, 105, 44},
		{"31 [−40, +103]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{bounded}, 30}, sample{"pgr-curiosity", plain, []string{bounded}, 10}, -40, 103, 31},
	} {
		for _, page := range c.pages {
			text, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(page)))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), c.claim) {
				t.Errorf("%s does not have the comparison %s", page, c.claim)
			}
		}
		a, b := c.a.scores(t), c.b.scores(t)
		less := func(s [][]float64) float64 { return report.IQM(s[0]) - report.IQM(s[1]) }
		strata := [][]float64{a, b}
		between := report.Bootstrap(rng.New(1, "claims"), strata, less)
		// The ends of an interval vary by some percent of its width with the draws of the bootstrap.
		near := max(3, 0.03*(c.top-c.low))
		if math.Abs(less(strata)-c.value) > 0.6 || math.Abs(between.Low-c.low) > near || math.Abs(between.High-c.top) > near {
			t.Errorf("the pages have %s, the results %+.1f [%+.1f, %+.1f]", c.claim, less(strata), between.Low, between.High)
		}
	}
}

// sample are the whole runs of a method on cheetah-run at scale short, in files of results.
type sample struct {
	method  string
	variant string // a part of the settings that differ from the scale's; "": none differs
	files   []string
	n       int
}

// scores are the returns that the study compares, one a run.
func (s sample) scores(t *testing.T) (all []float64) {
	t.Helper()
	for _, r := range evaluations(t, s.files...) {
		as := r.Variant == "" && s.variant == "" || s.variant != "" && strings.Contains(r.Variant, s.variant)
		if r.Task == "cheetah-run" && r.Method == s.method && r.Scale == "short" && as && r.Step >= 20_000 {
			all = append(all, score(r, 16_000, 20_000))
		}
	}
	if len(all) != s.n {
		t.Fatalf("%s (%s): %d runs in %v, want %d", s.method, s.variant, len(all), s.files, s.n)
	}
	return all
}
