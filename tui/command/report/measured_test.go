package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgrlab/core/report"
	"pgrlab/presets"
	"pgrlab/tui/command/results"
)

// short is the file of the first runs at scale short, which has columns of its own.
const short = "docs/evidence/short.csv"

// withoutGenerator are the settings, other than today's, of earlier builds that differ from them in the
// generator alone, by methods that have none. The runs of short are not kept with any.
var withoutGenerator = map[string][]string{"redq": {"", "c7fafd4a1bc7"}, "sac": {""}}

// The results that people are told to expect are those of all whole runs with today's settings in the files of
// evaluations, and each row names the files that have such runs.
func TestMeasuredIsWhatWasWrittenDown(t *testing.T) {
	all := everyEvaluation(t)
	for _, e := range presets.Measured() {
		c, err := presets.Resolve(e.Choice())
		if err != nil {
			t.Fatal(err)
		}
		c.Knobs.TV = cmp.Or(e.TV, c.Knobs.TV)
		key, err := results.ResultKey(c)
		if err != nil {
			t.Fatal(err)
		}
		var scores []float64
		var seen []string
		for _, file := range slices.Sorted(maps.Keys(all)) {
			for _, r := range all[file] {
				same := r.Fingerprint == key.Fingerprint || slices.Contains(withoutGenerator[e.Method], r.Fingerprint)
				if r.Task != e.Task || r.Method != e.Method || r.Scale != e.Scale || !same || r.Step < e.Steps {
					continue
				}
				if !slices.Contains(e.Results, file) {
					t.Errorf("%s on %s at %s: the row leaves out seed %d in %s", e.Method, e.Task, e.Scale, r.Seed, file)
				}
				evaluated := fmt.Sprint(r.Seed)
				for _, p := range returns(r) {
					evaluated += fmt.Sprint(" ", p.Step, p.Value)
				}
				if !slices.Contains(seen, evaluated) { // the same ones are of the same run, made again
					seen, scores = append(seen, evaluated), append(scores, score(r, e.From, e.Steps))
				}
			}
		}
		mean, std := meanStd(scores)
		if len(scores) != e.Runs || math.Abs(mean-e.Mean) > 0.06 || math.Abs(std-e.Std) > 0.06 {
			t.Errorf("%s, %s on %s: %.1f ± %.1f of %d runs, presets/data/measured.toml has %.1f ± %.1f of %d",
				e.Results, e.Method, e.Task, mean, std, len(scores), e.Mean, e.Std, e.Runs)
		}
	}
}

// everyEvaluation are the runs in all files of results, by file.
func everyEvaluation(t *testing.T) map[string][]*report.Run {
	t.Helper()
	files, err := filepath.Glob("../../../docs/evidence/*.csv")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]*report.Run{short: early(t)}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if name := "docs/evidence/" + filepath.Base(f); strings.HasPrefix(string(text), "task,method,scale,variant,settings,") {
			all[name] = evaluations(t, name)
		}
	}
	if len(all) < 10 {
		t.Fatalf("only %d files of results", len(all))
	}
	return all
}

// early are the runs of the first file at the updates of the scale.
func early(t *testing.T) (all []*report.Run) {
	t.Helper()
	file, err := os.Open(filepath.Join("../../..", filepath.FromSlash(short)))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]*report.Run{}
	for _, row := range rows[1:] { // task,method,utd,seed,step,return_mean,return_std
		seed, _ := strconv.ParseUint(row[3], 10, 64)
		step, _ := strconv.Atoi(row[4])
		value, err := strconv.ParseFloat(row[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		if row[2] != "10" {
			continue
		}
		of := strings.Join(row[:4], ",")
		if runs[of] == nil {
			runs[of] = &report.Run{Task: row[0], Method: row[1], Scale: "short", Seed: seed, Members: []report.Member{{Series: map[string]report.Series{}}}}
			all = append(all, runs[of])
		}
		r := runs[of]
		r.Step = step
		r.Members[0].Series[report.Return] = append(returns(r), report.Point{Step: step, Value: value})
	}
	return all
}

// returns are the mean returns of a run's evaluations.
func returns(r *report.Run) report.Series { return r.Members[0].Series[report.Return] }

// evaluations are the runs in files of results, given by their paths from the top of the repository.
func evaluations(t *testing.T, files ...string) (all []*report.Run) {
	t.Helper()
	for _, f := range files {
		runs, err := report.ReadResults(filepath.Join("../../..", filepath.FromSlash(f)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, runs...)
	}
	return all
}

// score is the mean return of a run's evaluations between two steps.
func score(r *report.Run, from, to int) float64 {
	sum, n := 0.0, 0.0
	for _, p := range returns(r) {
		if p.Step >= from && p.Step <= to {
			sum, n = sum+p.Value, n+1
		}
	}
	return sum / n
}

// meanStd returns the mean and the standard deviation of a sample.
func meanStd(all []float64) (mean, std float64) {
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		std += (v - mean) * (v - mean) / float64(len(all)-1)
	}
	return mean, math.Sqrt(std)
}
