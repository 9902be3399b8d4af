package program

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/scenes"
)

// A run that keeps scenes writes the journal of one that does not, also resumed, and its scenes
// have what a journal says nothing of, to the end of the run.
func TestARunKeepsScenes(t *testing.T) {
	d := setUp(t)
	do := func(args ...string) string {
		t.Helper()
		status, out := pgrlab(t, d, io.Discard, args...)
		if status != cli.StatusDone {
			t.Fatalf("pgrlab %q: status %d", args, status)
		}
		return out
	}
	train := []string{"train", "--threads", "1", "--preset", "tiny.toml"}
	do(append(train, "--steps", "150", "--out", "plain")...)
	do(append(train, "--steps", "120", "--out", "kept", "--scenes")...)
	do("train", "--threads", "1", "--resume", "kept", "--steps", "150", "--scenes")
	if canonical(t, "kept") != canonical(t, "plain") {
		t.Error("the journal differs")
	}
	path := filepath.Join("kept", scenes.FileName)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reel, err := scenes.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var end event.Snapshot
	if reel.End(150, &end); end.MixSynthetic == 0 || len(end.Pose) == 0 || end.Synthetic == 0 {
		t.Errorf("at its end %+v", end)
	}
	do("replay", "kept", "--picture", "p.svg")
	if err := os.WriteFile(path, []byte("no scene\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	if status, _ := pgrlab(t, d, &errs, "replay", "kept", "--picture", "p.svg"); status == cli.StatusDone || !strings.Contains(errs.String(), "without that file the journal is played alone") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
