package lab

import (
	"errors"

	"pgrlab/core/event"
)

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
