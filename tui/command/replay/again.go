package replay

import (
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/shell"
)

// ByHand counts the changes that people made, and those of the configuration that they cancelled.
func ByHand(events []event.Event) (n int) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.KnobChanged:
			if b.Obs.By != "schedule" {
				n++
			}
		case event.Cancelled:
			if b.OfConfiguration() {
				n++
			}
		}
	}
	return n
}

// Again is how a run is made again. For forks, and runs that people changed, their config.toml is not
// enough.
func Again(dir string, events []event.Event) string {
	forked := slices.ContainsFunc(events, func(e event.Event) bool {
		note, is := e.Body.(event.Noted)
		return is && strings.HasPrefix(note.Text, event.ForkedAt)
	})
	if forked || ByHand(events) > 0 {
		return "how to run it again: pgrlab card " + shell.Word(dir)
	}
	return "run again: pgrlab --preset " + shell.Word(filepath.Join(dir, run.ConfigName))
}
