package program

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pgrlab/core/run"
	"pgrlab/core/whatif"
)

// A saved run of a real task is examined with the real physics: prioritized rows and their
// counterparts from the simulator. The same seed prints the same bytes, and the run stays
// unchanged.
func TestWhatIf(t *testing.T) {
	d := setUp(t)
	if err := os.WriteFile("tiny.toml", []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if status, _ := pgrlab(t, d, &said, "train", "--preset", "tiny.toml", "--out", "a"); status != 0 {
		t.Fatalf("train: %d: %s", status, &said)
	}
	journal, err := os.ReadFile("a/" + run.JournalName)
	if err != nil {
		t.Fatal(err)
	}
	little := []string{"analyse", "a", "--what-if", "--updates", "10", "--episodes", "1", "--seeds", "2", "--samples", "60", "--guidance", "2", "--top-fraction", "0.25,1"}
	do := func(more ...string) string {
		t.Helper()
		said.Reset()
		status, out := pgrlab(t, d, &said, append(little, more...)...)
		if status != 0 {
			t.Fatalf("%v: %d: %s", more, status, &said)
		}
		return out
	}
	first := do()
	var found struct {
		Step         int
		Task, Device string
		whatif.Table
	}
	if err := json.Unmarshal([]byte(first), &found); err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	if found.Step != 150 || found.Task != "cartpole-swingup" || len(found.Arms) != 7 || len(found.Findings) != 6 || found.NoOracle != "" || found.Real != 150 {
		t.Errorf("%s", first)
	}
	for _, a := range found.Arms[1:] {
		if by := a.MadeBy == whatif.MadeByGenerator; by != (len(a.Change) == 2) || len(a.ValueError) != 2 || a.D+a.Left/2 > 60 || a.D < 30 {
			t.Errorf("%+v", a)
		}
	}
	if again := do(); again != first {
		t.Errorf("the same seed prints\n%s\nthen\n%s", first, again)
	}
	if other := do("--set", "generator_steps=7"); other == first {
		t.Error("another generator makes no difference")
	}
	if now, err := os.ReadFile("a/" + run.JournalName); err != nil || string(now) != string(journal) {
		t.Errorf("the journal has changed (%v)", err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"analyse", "a", "--updates", "5"}, "add --what-if"},
		{[]string{"analyse", "a", "--what-if", "--tsne"}, "does not go with --what-if"},
		{[]string{"analyse", "a", "--what-if", "--refit"}, "does not go with --what-if"},
		{[]string{"analyse", "a", "--what-if", "--guidance", "1,1"}, "twice"},
		{[]string{"analyse", "a", "--what-if", "--guidance", "11"}, "0 to 10"},
		{[]string{"analyse", "a", "--what-if", "--top-fraction", "0"}, "above 0"},
		{[]string{"analyse", "a", "--what-if", "--top-fraction", "1.5"}, "1.5"},
		{[]string{"analyse", "a", "--what-if", "--relevance", "beauty"}, "want some of curiosity"},
		{[]string{"analyse", "a", "--what-if", "--samples", "3"}, "number of samples"},
		{[]string{"analyse", "a", "--what-if", "--set", "utd=3"}, "does not use it"},
		{[]string{"analyse", "a", "--guidance", "1"}, "add --refit or --what-if"},
		{[]string{"analyse", "a@7", "--what-if"}, "no checkpoint of step 7"},
	} {
		said.Reset()
		if status, _ := pgrlab(t, d, &said, c.args...); status == 0 || !strings.Contains(said.String(), c.want) || strings.Count(strings.TrimSpace(said.String()), "\n") > 0 {
			t.Errorf("%v: status %d: %s", c.args, status, &said)
		}
	}
}
