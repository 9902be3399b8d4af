package report

import (
	"math"
	"path/filepath"
	"testing"

	"pgrlab/core/report"
	"pgrlab/presets"
)

// The results that people are told to expect agree with the files of evaluations.
func TestMeasuredIsWhatWasWrittenDown(t *testing.T) {
	for _, e := range presets.Measured() {
		if len(e.Results) == 0 {
			continue
		}
		var scores []float64
		for _, r := range evaluations(t, e.Results...) {
			plain := r.Variant == "" || r.Variant == e.Observation
			if e.TV != "" {
				plain = r.Variant == "tv="+e.TV
			}
			if r.Task == e.Task && r.Method == e.Method && r.Scale == e.Scale && plain == (e.Preset == "") && r.Step >= e.Steps {
				scores = append(scores, score(r, e.From, e.Steps))
			}
		}
		mean, std := meanStd(scores)
		if len(scores) != e.Runs || math.Abs(mean-e.Mean) > 0.06 || math.Abs(std-e.Std) > 0.06 {
			t.Errorf("%s, %s on %s: %.1f ± %.1f of %d runs, presets/data/measured.toml has %.1f ± %.1f of %d",
				e.Results, e.Method, e.Task, mean, std, len(scores), e.Mean, e.Std, e.Runs)
		}
	}
}

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
	for _, p := range r.Members[0].Series[report.Return] {
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
