package remote

import (
	"errors"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// errOneRun refuses to read another run's folder for a screen that shows one run only.
var errOneRun = errors.New("this screen shows one run: other folders cannot be read from here")

// ownOnly makes a screen read no run but its own and the forks that are made of it: its person has an
// account on this machine only as far as the run's screen goes.
func ownOnly(about *pane.About) {
	if about.LoadFork == nil {
		about.LoadFork = about.LoadRun
	}
	if about.LoadFork == nil {
		about.LoadFork = history.ReadJournal
	}
	about.LoadRun = func(string) ([]event.Event, error) { return nil, errOneRun }
	about.Alike = nil
	about.LoadConfig = func(string) (config.Config, error) { return config.Config{}, errOneRun }
}
