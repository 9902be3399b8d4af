package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/report"
)

var operationsRow = regexp.MustCompile("(?m)^\\| (\\S+) \\| `([^`]+)` \\| (\\d+) \\| (\\d+) \\| ([\\d,]+) \\| ([\\d,]+) \\| ([\\d,]+) \\|$")

// The returns of MBPO's page at equal operations are those of its results and of the study's, at the step that
// the counts of operations give.
func TestReturnsAtEqualOperations(t *testing.T) {
	text := read(t, "docs/evidence/model-based.md")
	_, text, _ = strings.Cut(text, "\n## At equal operations\n")
	rows := operationsRow.FindAllStringSubmatch(text, -1)
	if len(rows) != 17 {
		t.Fatalf("%d rows", len(rows))
	}
	bounded := []string{boundedFile, asideFile}
	pools := map[string][]string{"cheetah-run sac": {controlsFile}, "cheetah-run synther": bounded, "cheetah-run pgr-curiosity": bounded, "cheetah-run redq": {firstFile},
		"reacher-hard synther": {boundedFile}, "reacher-hard pgr-curiosity": {boundedFile}}
	base := 0.0 // operations of sac
	for _, row := range rows {
		task, method := row[1], row[2]
		number := func(i int) float64 {
			v, err := strconv.ParseFloat(strings.ReplaceAll(row[i], ",", ""), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if method == "sac" {
			base = number(4)
		}
		step := int(number(6))
		if exact := 20_000 * base / number(4); math.Abs(float64(step)-exact) > 700 {
			t.Errorf("%s on %s: as many operations after %.0f steps, not %d", method, task, exact, step)
		}
		files, build := pools[task+" "+method], ""
		if files == nil {
			files, build = []string{"docs/evidence/model-based.csv"}, "7f8f6652"
		}
		var whole, equal []float64
		for _, r := range evaluations(t, files...) {
			if r.Task != task || r.Method != method || r.Scale != "short" || r.Variant != "" || r.Step < 20_000 || !strings.HasPrefix(r.Version, build) {
				continue
			}
			whole = append(whole, score(r, 16_000, 20_000))
			equal = append(equal, score(r, step-1000, step))
		}
		if len(whole) != int(number(3)) {
			t.Errorf("%s on %s: %d runs", method, task, len(whole))
		}
		for i, all := range map[int][]float64{5: whole, 7: equal} {
			if math.Abs(report.Mean(all)-number(i)) > 0.51 {
				t.Errorf("%s on %s: the page has %s, the results %.1f", method, task, row[i], report.Mean(all))
			}
		}
	}
}
