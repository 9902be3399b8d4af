package tui

import (
	"fmt"
	"os"

	"pgrlab/core/run"
	"pgrlab/tui/history"
)

// captureFile opens the file for stderr while the screen is up: in the run folder, or a new temporary
// one if there is no run yet.
func captureFile(o Options) (*os.File, error) {
	if o.Folder == "" || o.Replay {
		return os.CreateTemp("", fmt.Sprintf("pgrlab-stderr-%d-*.log", os.Getpid()))
	}
	f, err := run.AppendFile(o.Folder, "stderr.log")
	if err != nil {
		return nil, err
	}
	return f.File, nil
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
