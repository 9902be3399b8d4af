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

// A journal that was edited anywhere, or whose end is missing, is reported as such. Lines after the
// checkpoint were added by the run itself and are not reported.
func TestAChangedJournalIsSaid(t *testing.T) {
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
			const says = "the journal is not what the run had written at its checkpoint of step 2000"
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
