package report

import (
	"strings"
	"testing"
)

// A number that this program would not have written is an error with its line and column, wherever it
// stands; a return may be negative, and no finite number in a run that diverged.
func TestWhatIsNoNumberOfAResult(t *testing.T) {
	head := strings.Join(resultColumns, ",") + ",evaluated/return_mean,evaluated/return_std,losses/bonus,frames"
	good := []string{"cheetah-run", "synther", "demo", "", "abc", "1", "5000", "cpu", "v1", "1000", "10.0", "5", "1", "", "2000"}
	columns := strings.Split(head, ",")
	file := func(column, text string) string {
		row := append([]string(nil), good...)
		for i, name := range columns {
			if name == column {
				row[i] = text
			}
		}
		return head + "\n" + strings.Join(row, ",") + "\n"
	}
	odd := []string{"1e400", "NaN", "Inf", "-Inf", "infinity", "0x10", "0x1p-2", "1_000", "1 ", "one", "-1", ""}
	allowed := map[string][]string{
		"evaluated/return_mean": {"-1", "-Inf", "NaN"},
		"evaluated/return_std":  {""},
		"losses/bonus":          {"-1", "-Inf", ""},
		"frames":                {""},
	}
	for _, column := range []string{"seed", "steps", "step", "wall_s", "evaluated/return_mean", "evaluated/return_std", "losses/bonus", "frames"} {
		for _, text := range odd {
			_, err := readResults(strings.NewReader(file(column, text)), "f.csv")
			fine := false
			for _, a := range allowed[column] {
				fine = fine || a == text
			}
			if fine != (err == nil) || err != nil && column != "frames" && (!strings.HasPrefix(err.Error(), "line 2: column "+column) || strings.Contains(err.Error(), "strconv")) {
				t.Errorf("%s %q: %v", column, text, err)
			}
		}
	}
	for _, column := range []string{"task", "method", "scale", "settings"} {
		if _, err := readResults(strings.NewReader(file(column, "")), "f.csv"); err == nil || !strings.HasPrefix(err.Error(), "line 2: column "+column+" is empty") {
			t.Errorf("%s: %v", column, err)
		}
	}
	for _, step := range []string{"5001", "99999999999999999999"} {
		if _, err := readResults(strings.NewReader(file("step", step)), "f.csv"); err == nil {
			t.Errorf("step %s of 5000 is read", step)
		}
	}
}
