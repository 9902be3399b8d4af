package report

import (
	"encoding/csv"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table of docs/evidence/data.md is what its protocol makes of data.csv: the mean return at four steps of
// each run, the differences, and p over all ways to divide twelve runs in two.
func TestClaimsOfDataAreWhatTheResultsGive(t *testing.T) {
	page, err := os.ReadFile("../../../docs/evidence/data.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("../../../docs/evidence/data.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string][]float64{} // by kind and task, for the seeds 1 to 6
	for _, r := range rows[1:] {
		seed, _ := strconv.Atoi(r[4])
		v, err := strconv.ParseFloat(r[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		if r[0] == "recorded" || !slices.Contains([]string{"500", "1000", "1500", "2000"}, r[5]) {
			continue
		}
		of := r[0] + " " + r[1]
		if runs[of] == nil {
			runs[of] = make([]float64, 6)
		}
		runs[of][seed-1] += v / 4
	}
	for _, task := range []string{"cartpole-swingup", "cheetah-run"} {
		for _, kind := range []string{"none", "data", "pretrained"} {
			of, none := runs[kind+" "+task], runs["none "+task]
			want := fmt.Sprintf("| %.1f | | |\n", mean(of))
			if kind != "none" {
				difference := strings.Replace(fmt.Sprintf("%+.1f", mean(of)-mean(none)), "-", "−", 1)
				want = fmt.Sprintf("| %.1f | %s | %.4f |\n", mean(of), difference, permuted(of, none))
			}
			if !strings.Contains(string(page), want) {
				t.Errorf("%s of %s: the page lacks %q", kind, task, want)
			}
		}
	}
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

// permuted is the share of all ways to divide the numbers of a and b in two equal parts whose means differ by as
// much as those of a and b.
func permuted(a, b []float64) float64 {
	all := slices.Concat(a, b)
	as, ways := 0, 0
	for set := range uint(1) << len(all) {
		if bits.OnesCount(set) != len(a) {
			continue
		}
		sums := [2]float64{}
		for i, v := range all {
			sums[set>>i&1] += v / float64(len(a))
		}
		ways++
		if max(sums[0]-sums[1], sums[1]-sums[0]) >= max(mean(a)-mean(b), mean(b)-mean(a))-1e-9 {
			as++
		}
	}
	return float64(as) / float64(ways)
}
