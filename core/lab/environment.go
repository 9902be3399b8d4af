package lab

import (
	"errors"
	"fmt"

	"pgrlab/core/event"
)

// Environment is how a run plays its task, fixed for the run. The zero value is
// the task as its makers define it.
type Environment struct {
	ActionRepeat int       `toml:"action_repeat"` // control steps of an env step, rewards summed; 0 means 1
	Copies       int       `toml:"copies"`        // of the environment that an agent trains in: an env step is one of each; 0 means 1
	NoiseShare   float64   `toml:"noise_share"`   // share of the training observations with Gaussian noise; evaluation has none
	NoiseSigma   []float64 `toml:"noise_sigma"`   // its standard deviation: one for all coordinates, or one for each
}

func (e Environment) plain() bool { return e.ActionRepeat <= 1 && e.NoiseShare == 0 }

// Played returns the task as a run with e plays it.
func (t Task) Played(e Environment) (Task, error) {
	if t.With == nil {
		if e.plain() {
			return t, nil
		}
		return t, fmt.Errorf("%s: neither action repeat nor noise is known here", t.Name)
	}
	return t.With(e)
}

// lost is what an error of Step says of itself where the simulation broke down:
// the episode is over, and a Reset starts the next one as if nothing had been.
type lost interface {
	error
	EpisodeLost() bool
}

// tolerateLostEpisode notes that an episode was lost and says whether that is all: the run goes
// on. Every other error is something else.
func (x *experiment) tolerateLostEpisode(m *member, err error) bool {
	if l := lost(nil); !errors.As(err, &l) || !l.EpisodeLost() {
		return false
	}
	x.emit(event.TypeNote, m.index, event.Noted{Text: "episode lost: " + err.Error()})
	return true
}
