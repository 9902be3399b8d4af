package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// In any number of copies, with true ends, time limits and episodes that are lost, each row has the
// number of the episode in which it was met, and the data are cut where the next row of its copy is of
// another one without a true end, also if a ring holds only the newest rows.
func TestRowsOfEpisodes(t *testing.T) {
	draws := rand.New(rand.NewPCG(3, 4))
	for _, copies := range []int{1, 3, 1, 3} {
		var lines []run.Line
		var met rows
		var numbers []int32
		length, begun := make([]int, copies), make([]int, copies)
		over := func(step, of int) {
			lines = append(lines, run.Line{Type: "episode", Step: step * copies, Member: run.NoMember, Body: map[string]any{"return": 1, "length": length[of], "copy": of}})
			length[of], begun[of] = 0, begun[of]+1
		}
		for step := 1; step <= 60; step++ {
			ends := make([]int, copies)
			for of := range copies {
				if ends[of] = draws.IntN(9); ends[of] == 0 && length[of] > 0 {
					over(step, of) // lost: the step is made again in the next episode
				}
				terminal := float32(0)
				if ends[of] == 1 {
					terminal = 1
				}
				met = append(met, []float32{0, 0, 0, 0, 0, 0, terminal})
				numbers = append(numbers, int32(of+copies*begun[of]))
				length[of]++
			}
			for of := range copies {
				if ends[of] == 1 || ends[of] == 2 {
					over(step, of)
				}
			}
		}
		r := journal(t, t.TempDir(), "t", "m", 0, nil, lines...)
		for _, first := range []int{0, 40, len(met) - 1} {
			e, err := r.Episodes(met[first:], 0, copies, first)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(e.Number, numbers[first:]) {
				t.Errorf("%d copies, from row %d: episodes %v, want %v", copies, first, e.Number, numbers[first:])
			}
			for i, cut := range e.Cut {
				next := first + i + copies
				want := (next >= len(met) || numbers[next] != numbers[first+i]) && met[first+i][6] == 0
				if want != (cut == 1) {
					t.Errorf("%d copies, row %d: cut is %v, want %v", copies, first+i, cut, want)
				}
			}
		}
	}
	odd := journal(t, t.TempDir(), "t", "m", 0, nil, run.Line{Type: "episode", Step: 100, Member: run.NoMember, Body: map[string]any{"length": 50}})
	if _, err := odd.Episodes(rows{}, 0, 1, 0); err == nil || !strings.Contains(err.Error(), "over after env step 100, and by the lengths of all of them after 50") {
		t.Errorf("lengths that contradict the steps: %v", err)
	}
}
