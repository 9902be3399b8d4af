package report

import (
	"math"
	"os"
	"regexp"
	"testing"

	"pgrlab/core/report"
)

// The comparisons of the noise table are what its 27 runs give: the bootstrap's interval, Welch's, the permutation p and five times that, and the share of
// the clean mean.
func TestNoisesComparisonsAreWhatTheResultsGive(t *testing.T) {
	text, err := os.ReadFile("../../../docs/evidence/model-based.md")
	if err != nil {
		t.Fatal(err)
	}
	of := func(method string) []float64 {
		var runs []*report.Run
		for _, r := range evaluations(t, "docs/evidence/noise.csv") {
			if r.Method == method {
				runs = append(runs, r)
			}
		}
		all := scored(t, runs)
		if len(all) != 3 {
			t.Fatalf("%s: %d runs", method, len(all))
		}
		return all
	}
	for noised, clean := range map[string]string{
		"pgr-noised-icm": "pgr-curiosity", "pgr-noised-all": "pgr-curiosity", "mbpo-noised": "mbpo", "dreamerv3-noised": "dreamerv3", "max-noised": "max",
	} {
		a, b := of(noised), of(clean)
		welch := report.Welch(a, b)
		p := permuted(a, b)
		want := append(compared(a, b, apart), welch.Low, welch.High, p, min(1, 5*p), 100*(report.Mean(a)/report.Mean(b)-1), report.Mean(b))
		row := "(?m)^\\| `" + noised + "` − `" + clean + "` \\| \\**" + interval + `\** \| \[` + number + `, ` + number + `\] \| ` + number + ` \| ` + number + ` \| ` + number + ` % of ` + number + ` \|`
		found := regexp.MustCompile(row).FindStringSubmatch(string(text))
		if len(found) != len(want)+1 {
			t.Errorf("the page has no row of %s, the results %.1f", noised, want)
			continue
		}
		near := []float64{0, 12, 12, 0, 0, 0, 0, 0, 0} // of draws
		for i, s := range found[1:] {
			if v, round := parsed(t, s); math.Abs(v-want[i]) > max(near[i], round) {
				t.Errorf("%s: the page has %q, the results %.1f", noised, found[0], want)
				break
			}
		}
	}
}
