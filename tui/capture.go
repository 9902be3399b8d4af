package tui

import (
	"fmt"
	"os"
	"path/filepath"

	"pgrlab/tui/history"
)

// capturePath is where stderr goes while the screen is up: beside the run, or into
// the folder for temporary files where there is no run yet.
func capturePath(o Options) string {
	if o.Folder != "" && !o.Replay {
		return filepath.Join(o.Folder, "stderr.log")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("pgrlab-stderr-%d.log", os.Getpid()))
}

// drain takes what was written to stderr into the events.
func (m *Model) drain() {
	if m.stderr == nil {
		return
	}
	for _, text := range m.stderr.lines() {
		m.History.Add(history.EventLine{Wall: m.Now(), Step: m.stepNow(), Kind: "stderr", Text: text, Warning: true})
		m.Changed()
	}
}

func (m *Model) stepNow() int {
	if m.Snap == nil {
		return 0
	}
	return m.Snap.Step
}
