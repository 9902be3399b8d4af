package report

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/report"
	"pgrlab/core/rng"
)

// What README and the pages of evidence say about differences between methods is what the files of
// results give: all runs that were made, by the score that the study's protocol fixes.
func TestClaimsAreWhatTheResultsGive(t *testing.T) {
	const (
		first, bounded, aside, control = firstFile, boundedFile, asideFile, controlsFile
		joint, plain                   = jointOnly, withoutF
	)
	for _, c := range []struct {
		claim    string
		pages    []string
		a, b     sample
		low, top float64 // the interval as the pages have it
		value    float64
		centre   func([]float64) float64
	}{
		{"+24 [−12, +65]", []string{"README.md", "docs/evidence/study.md", "docs/evidence/README.md"},
			sample{"pgr-curiosity", "", []string{bounded, aside}, 40}, sample{"synther", "", []string{bounded, aside}, 40}, -12, 65, 24, iqm},
		{"+39 [+0.5, +81]", []string{"README.md", "docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{bounded}, 30}, sample{"synther", "", []string{bounded}, 30}, 0.5, 81.4, 39, iqm},
		{"−16 [−54, +25]", []string{"README.md", "docs/evidence/study.md"},
			sample{"pgr-curiosity", joint, []string{first}, 30}, sample{"synther", joint, []string{first}, 30}, -54, 25, -16, iqm},
		{"+7 [−64, +56]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{first}, 30}, sample{"synther", "", []string{first}, 30}, -64, 56, 7, iqm},
		{"−12 [−115, +92]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{aside}, 10}, sample{"synther", "", []string{aside}, 10}, -115, 92, -12, iqm},
		{"+18 [−12, +48]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{first, bounded, aside}, 70}, sample{"synther", "", []string{first, bounded, aside}, 70}, -12, 48, 18, iqm},
		{"+44 [+11, +105]", []string{"docs/evidence/study.md"},
			sample{"pgr-return", "", []string{bounded}, 10}, sample{"synther", "", []string{bounded}, 30}, 11, 105, 44, iqm},
		{"+44 [+10, +105]", []string{"docs/evidence/study.md", "docs/evidence/README.md"},
			sample{"pgr-return", "", []string{bounded, aside}, 10}, sample{"synther", "", []string{bounded, aside}, 40}, 10, 105, 44, iqm},
		{"16 [−53, +86]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{bounded, aside}, 40}, sample{"pgr-curiosity", plain, []string{bounded, aside}, 10}, -53, 86, 16, iqm},
		{"31 [−40, +103]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{bounded}, 30}, sample{"pgr-curiosity", plain, []string{bounded}, 10}, -40, 103, 31, iqm},
		{"+132 [+98, +165]", []string{"README.md", "docs/evidence/study.md", "docs/evidence/README.md"},
			sample{"synther", "", []string{bounded, aside}, 40}, sample{"sac", "", []string{control}, 10}, 98, 165, 132, report.Mean},
		{"+3 [−31, +40]", []string{"README.md", "docs/evidence/study.md"},
			sample{"resample", "", []string{control}, 10}, sample{"sac", "", []string{control}, 10}, -31, 40, 3, report.Mean},
		{"+129 [+87, +168]", []string{"docs/evidence/study.md"},
			sample{"synther", "", []string{bounded, aside}, 40}, sample{"resample", "", []string{control}, 10}, 87, 168, 129, report.Mean},
		{"+182 [+146, +216]", []string{"docs/evidence/study.md"},
			sample{"pgr-curiosity", "", []string{bounded, aside}, 40}, sample{"pgr-resample", "", []string{control}, 10}, 146, 216, 182, report.Mean},
	} {
		for _, page := range c.pages {
			if !strings.Contains(read(t, page), c.claim) {
				t.Errorf("%s does not have the comparison %s", page, c.claim)
			}
		}
		a, b := c.a.scores(t), c.b.scores(t)
		less := func(s [][]float64) float64 { return c.centre(s[0]) - c.centre(s[1]) }
		strata := [][]float64{a, b}
		between := report.Bootstrap(rng.New(1, "claims"), strata, less)
		// The ends of an interval vary by some percent of its width with the draws of the bootstrap.
		near := max(3, 0.03*(c.top-c.low))
		if math.Abs(less(strata)-c.value) > 0.6 || math.Abs(between.Low-c.low) > near || math.Abs(between.High-c.top) > near {
			t.Errorf("the pages have %s, the results %+.1f [%+.1f, %+.1f]", c.claim, less(strata), between.Low, between.High)
		}
	}
}

// The lesson on what synthetic rows are worth has the means of the controls.
func TestTheLessonHasWhatTheResultsGive(t *testing.T) {
	text, err := os.ReadFile("../../../presets/lessons/worth.toml")
	if err != nil {
		t.Fatal(err)
	}
	const control = "docs/evidence/study-controls.csv"
	both := []string{"docs/evidence/study-bounded.csv", "docs/evidence/study-stopped.csv"}
	for words, of := range map[string]sample{
		"alone has %.0f (ten runs)":                {"sac", "", []string{control}, 10},
		"drawn again in place of D_syn %.0f (ten)": {"resample", "", []string{control}, 10},
		"and with SynthER's rows \\\n%.0f (forty)": {"synther", "", both, 40},
	} {
		if want := fmt.Sprintf(words, report.Mean(of.scores(t))); !strings.Contains(string(text), want) {
			t.Errorf("the lesson lacks %q", want)
		}
	}
}

// The comparisons of MBPO's protocol are those of its runs by the build that it names.
func TestMBPOsComparisonsAreWhatTheResultsGive(t *testing.T) {
	text, err := os.ReadFile("../../../docs/evidence/model-based.md")
	if err != nil {
		t.Fatal(err)
	}
	of := func(task, method string) (all []float64) {
		var runs []*report.Run
		for _, r := range evaluations(t, "docs/evidence/model-based.csv") {
			if r.Task == task && r.Method == method && strings.HasPrefix(r.Version, "7f8f6652") {
				runs = append(runs, r)
			}
		}
		if all = scored(t, runs); len(all) != 3 {
			t.Fatalf("%s on %s: %d runs", method, task, len(all))
		}
		return all
	}
	sac := sample{"sac", "", []string{"docs/evidence/study-controls.csv"}, 10}
	synther := sample{"synther", "", []string{"docs/evidence/study-bounded.csv", "docs/evidence/study-stopped.csv"}, 40}
	reacher := sample{"synther", "", []string{"docs/evidence/study-bounded.csv"}, 10}
	for row, between := range map[string][2][]float64{
		"cheetah-run: `mbpo-curiosity` − `mbpo`":  {of("cheetah-run", "mbpo-curiosity"), of("cheetah-run", "mbpo")},
		"cheetah-run: `mbpo` − `sac`":             {of("cheetah-run", "mbpo"), sac.scores(t)},
		"cheetah-run: `mbpo` − `synther`":         {of("cheetah-run", "mbpo"), synther.scores(t)},
		"Hopper-v2: `mbpo-curiosity` − `mbpo`":    {of("Hopper-v2", "mbpo-curiosity"), of("Hopper-v2", "mbpo")},
		"Hopper-v2: `mbpo` − `sac`":               {of("Hopper-v2", "mbpo"), of("Hopper-v2", "sac")},
		"Hopper-v2: `mbpo` − `synther`":           {of("Hopper-v2", "mbpo"), of("Hopper-v2", "synther")},
		"reacher-hard: `mbpo-curiosity` − `mbpo`": {of("reacher-hard", "mbpo-curiosity"), of("reacher-hard", "mbpo")},
		"reacher-hard: `mbpo` − `sac`":            {of("reacher-hard", "mbpo"), of("reacher-hard", "sac")},
		"reacher-hard: `mbpo` − `synther`":        {of("reacher-hard", "mbpo"), reacher.on(t, "reacher-hard")},
	} {
		welch, p := report.Welch(between[0], between[1]), dealt(between[0], between[1], report.Mean)
		want := append(compared(between[0], between[1], apart), welch.Low, welch.High, p, min(1, 9*p))
		found := regexp.MustCompile(`(?m)^\| ` + row + `(?: \([^|]*\))? \| \**` + interval + `\** \| \[` + number + `, ` + number + `\] \| ` + number + ` \| ` + number + ` \|$`).FindStringSubmatch(string(text))
		if len(found) != len(want)+1 {
			t.Errorf("the page has no row of %s", row)
			continue
		}
		near := []float64{0, 12, 12, 0, 0, 0.01 + 0.1*p, 0.01 + 0.9*p} // of draws
		for i, s := range found[1:] {
			if v, round := parsed(t, s); math.Abs(v-want[i]) > max(near[i], round) {
				t.Errorf("%s: the page has %s, the results %.4f", row, s, want[i])
			}
		}
	}
}

func iqm(all []float64) float64 { return report.IQM(all) }

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
	return s.on(t, "cheetah-run")
}

// on are the scores on a task.
func (s sample) on(t *testing.T, task string) (all []float64) {
	t.Helper()
	if all = scored(t, s.runs(t, task)); len(all) != s.n {
		t.Fatalf("%s (%s): %d scores in %v, want %d", s.method, s.variant, len(all), s.files, s.n)
	}
	return all
}

// runs are the runs on a task, those that failed among them.
func (s sample) runs(t *testing.T, task string) (all []*report.Run) {
	t.Helper()
	for _, r := range evaluations(t, s.files...) {
		as := r.Variant == "" && s.variant == "" || s.variant != "" && strings.Contains(r.Variant, s.variant)
		if r.Task == task && r.Method == s.method && r.Scale == "short" && as {
			all = append(all, r)
		}
	}
	return all
}

// scored are the scores of runs as pgrlab report --score-from 16000 --step 20000 has them: one that failed counts
// with 0 for the evaluations that it did not reach.
func scored(t *testing.T, runs []*report.Run) (all []float64) {
	t.Helper()
	r, err := report.New(runs, report.Options{Step: 20_000, ScoreFrom: 16_000, Statistic: report.OfMeans})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range r.Tasks {
		for _, row := range task.Rows {
			all = append(all, row.Points...)
		}
	}
	return all
}
