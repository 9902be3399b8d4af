package dataset

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	d, err := Read("testdata/d4rl.hdf5", Options{})
	if err != nil {
		t.Fatal(err)
	}
	copy(d.Row(1), d.Row(0))
	for i := range d.Len() {
		d.Row(i)[1] = 4
	}
	d.Row(5)[3] = -1.5
	d.Dropped.NotFinite = 2
	var said []string
	for _, f := range d.Describe() {
		mark := "  "
		if f.Wrong {
			mark = "! "
		}
		said = append(said, mark+f.Text)
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{
		"  D4RL: 72 rows of 3 numbers observed and 2 of an action; sha256 ", "  20 episodes of 3 to 8 rows, mean 4.6; 7 truly ended (35%), the others were cut off",
		"  20 of 94 rows are dropped, as what follows there is another episode: 7 at true ends, 13 where an episode was cut off", "! no true end is left",
		"! 2 of 94 rows have NaN or an infinity, and are dropped", "  observation 1 is always 4", "  action 0 from -1.5 to ", "  rewards from ",
		"! 1 of 72 rows have actions beyond [-1, 1], the largest is 1.5: say the bounds with --act-low and --act-high", "  1 of 72 rows repeat an earlier one",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no line %q in\n%s", want, all)
		}
	}
}
