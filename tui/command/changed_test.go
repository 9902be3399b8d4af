package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// savedFolder is a run folder with a checkpoint at its end.
func savedFolder(t *testing.T, dir string, returns []float64) {
	t.Helper()
	folder(t, dir, "pgr-curiosity", 1, returns)
	f, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	journal, err := os.ReadFile(filepath.Join(dir, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(journal))
	c := &run.Checkpoint{Header: run.Header{Step: 2000, Position: "2000", Config: f.Config(), Journal: run.Mark{Size: int64(len(journal)), SHA256: sum}}}
	if _, _, err := f.WriteCheckpoint(c); err != nil {
		t.Fatal(err)
	}
}

// A journal that was edited anywhere, or whose end is missing, is reported as such: with the mark of
// its end, or without one as far as its last checkpoint. Lines after that are not reported as changed.
func TestAChangedJournalIsSaid(t *testing.T) {
	for name, sealed := range map[string]bool{"sealed": true, "not sealed": false} {
		t.Run(name, func(t *testing.T) { changesAreSaid(t, sealed) })
	}
}

func changesAreSaid(t *testing.T, sealed bool) {
	for name, c := range map[string]struct {
		change func(journal []byte) []byte
		said   bool
	}{
		"untouched": {func(j []byte) []byte { return j }, false},
		"a return": {func(j []byte) []byte {
			return bytes.Replace(j, []byte(`"return_mean":4.8`), []byte(`"return_mean":94.8`), 1)
		}, true},
		"of the same size": {func(j []byte) []byte {
			return bytes.Replace(j, []byte(`"return_mean":4.8`), []byte(`"return_mean":9.8`), 1)
		}, true},
		"a line less": {func(j []byte) []byte { return j[:bytes.LastIndexByte(j[:len(j)-1], '\n')+1] }, true},
		"a blank":     {func(j []byte) []byte { return bytes.Replace(j, []byte(`"step":1000`), []byte(`"step": 1000`), 1) }, true},
		"lines more": {func(j []byte) []byte {
			return append(j, []byte(`{"type":"note","step":2001,"text":"later","obs":{}}`+"\n")...)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			savedFolder(t, "a", []float64{3, 4.8})
			path := filepath.Join("a", run.JournalName)
			journal, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(path, c.change(bytes.Clone(journal)), 0o644)
			says := "the journal is not what the run had written at its end"
			if !sealed {
				says = "the journal is not what the run had written at its checkpoint of step 2000"
				if err := os.Remove(filepath.Join("a", "events.end")); err != nil {
					t.Fatal(err)
				}
			}
			_, markdown, _ := command("report", "a")
			_, text, _ := command("report", "a", "--json")
			_, page, _ := command("card", "a")
			_, csv, stderr := command("export", "a", "--format", "csv")
			var data struct {
				Tasks []struct{ Rows []struct{ Changed []string } }
			}
			if err := json.Unmarshal([]byte(text), &data); err != nil || csv == "" || len(data.Tasks) != 1 {
				t.Fatalf("%v: %s", err, text)
			}
			for what, said := range map[string]bool{
				"report":        strings.Contains(markdown, "a: "+says) && strings.Contains(markdown, "numbers of 1 run may have been changed"),
				"report --json": len(data.Tasks[0].Rows[0].Changed) == 1,
				"card":          strings.Contains(page, "**Warning**: "+says),
				"export":        strings.Contains(stderr, says),
			} {
				if said != c.said {
					t.Errorf("%s: said is %v\n%s\n%s", what, said, markdown, stderr)
				}
			}
		})
	}
}

// A report of a run whose last lines are not covered by any mark says so, and so does its card: they
// hold the return that is compared. Of a run that was closed it says nothing.
func TestTheLastReturnIsCheckedOrSaidNotToBe(t *testing.T) {
	const edited = `"return_mean":94.8`
	for name, c := range map[string]struct {
		before               func()
		changed, notVerified bool
	}{
		"closed":             {func() {}, false, false},
		"closed and changed": {func() { editLast(t, "a", edited) }, true, false},
		"from before":        {func() { os.Remove("a/events.end") }, false, true},
		"a copy, edited":     {func() { os.Remove("a/events.end"); editLast(t, "a", edited) }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			folder(t, "a", "pgr-curiosity", 1, []float64{3, 4.8}, run.Line{Type: "done", Step: 2000, Member: run.NoMember, Body: map[string]any{"steps": 2000}})
			c.before()
			_, markdown, _ := command("report", "a")
			_, page, _ := command("card", "a")
			for what, text := range map[string]string{"report": markdown, "card": page} {
				if got := strings.Contains(text, "not what the run had written at its end"); got != c.changed {
					t.Errorf("%s: changed is %v\n%s", what, got, text)
				}
				if got := strings.Contains(text, "not checked for changes"); got != c.notVerified {
					t.Errorf("%s: not checked is %v\n%s", what, got, text)
				}
			}
		})
	}
}

// editLast changes the last return in a journal.
func editLast(t *testing.T, dir, to string) {
	t.Helper()
	path := filepath.Join(dir, run.JournalName)
	journal, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.Replace(journal, []byte(`"return_mean":4.8`), []byte(to), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Of two runs of one seed with different returns the report says that they differ, and where.
func TestTwoRunsOfOneSeedThatDiffer(t *testing.T) {
	for name, second := range map[string]float64{"same": 4.8, "other": 94.8} {
		t.Chdir(t.TempDir())
		folder(t, "a", "pgr-curiosity", 1, []float64{3, 4.8})
		folder(t, "b", "pgr-curiosity", 1, []float64{3, second})
		_, markdown, _ := command("report", "a", "b")
		if got := strings.Contains(markdown, "their returns differ at step 2,000"); got != (name == "other") || !strings.Contains(markdown, "b is left out") {
			t.Errorf("%s: %s", name, markdown)
		}
	}
}
