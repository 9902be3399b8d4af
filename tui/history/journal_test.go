package history

import (
	"path/filepath"
	"strings"
	"testing"
)

// A folder without a run is said to be one, and not what the file system says.
func TestReadJournalWhereNoRunIs(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "nosuch")} {
		_, err := ReadJournal(dir)
		if err == nil || !strings.Contains(err.Error(), "no run is there: want a folder with events.jsonl") || strings.Contains(err.Error(), "stat") {
			t.Errorf("%v", err)
		}
	}
}
