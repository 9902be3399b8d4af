package remote

import (
	"errors"
	"sync"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// errOneRun refuses to read another run's folder for a screen that shows one run only.
var errOneRun = errors.New("this screen shows one run: other folders cannot be read from here")

// ownOnly makes a screen read no run but its own and the forks that are made at it: its person has
// an account on this machine only as far as the run's screen goes.
func ownOnly(about *pane.About) {
	var mu sync.Mutex
	forks := map[string]bool{}
	if fork := about.Fork; fork != nil {
		about.Fork = func(p pane.ForkPlan) ([]pane.Child, error) {
			made, err := fork(p)
			mu.Lock()
			defer mu.Unlock()
			for _, c := range made {
				forks[c.Dir] = true
			}
			return made, err
		}
	}
	load := about.LoadRun
	if load == nil {
		load = history.ReadJournal
	}
	about.LoadRun = func(dir string) ([]event.Event, error) {
		mu.Lock()
		own := forks[dir]
		mu.Unlock()
		if !own {
			return nil, errOneRun
		}
		return load(dir)
	}
	about.LoadConfig = func(string) (config.Config, error) { return config.Config{}, errOneRun }
}
