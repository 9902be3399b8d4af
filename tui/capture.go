package tui

import (
	"fmt"
	"os"
	"path/filepath"

	"pgrlab/tui/history"
)

// capturePath is the file for stderr while the screen is up: beside the run, or in the folder for
// temporary files if there is no run yet.
func capturePath(o Options) string {
	if o.Folder != "" && !o.Replay {
		return filepath.Join(o.Folder, "stderr.log")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("pgrlab-stderr-%d.log", os.Getpid()))
}

// drain turns what was written to stderr into events.
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
