package session

import (
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
	"pgrlab/tui/command/replay"
)

// The result of a run is its last and its best return; for several seeds it is their mean, with the
// value of each seed.
func TestReached(t *testing.T) {
	at := func(step, member int, r float64) event.Event {
		return event.Event{Step: step, Member: member, Body: event.Evaluated{ReturnMean: run.Float(r), Episodes: 2}}
	}
	for want, events := range map[string][]event.Event{
		"":                       nil,
		", return 3.0, best 5.0": {at(1, event.NoMember, 5), at(2, event.NoMember, 3)},
		", mean return 3.0 of seeds' 2.0 4.0, best mean 6.0": {at(1, 0, 5), at(1, 1, 7), at(2, 0, 2), at(2, 1, 4)},
	} {
		if got := Reached(events); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if one, more := Seeds(3, 1), Seeds(3, 4); one != "seed 3" || more != "seeds 3 to 6" {
		t.Errorf("%q, %q", one, more)
	}
}

// Commands to type name a folder so that a shell finds it.
func TestCommandsQuoteFolders(t *testing.T) {
	if got := replay.Again("my runs/a", nil); !strings.HasSuffix(got, "pgrlab --preset 'my runs/a/config.toml'") {
		t.Errorf("%q", got)
	}
	if got := beyond(tiny.Config(), "my runs/a"); !strings.HasSuffix(got, "pgrlab --resume 'my runs/a' --steps N") {
		t.Errorf("%q", got)
	}
}

// A complete run gets a command that makes it longer only if it can be.
func TestHowACompleteRunGoesOn(t *testing.T) {
	c := tiny.Config()
	if got := beyond(c, "runs/a"); !strings.HasSuffix(got, "pgrlab --resume runs/a --steps N") {
		t.Errorf("%q", got)
	}
	c.Replay = config.Replay{Priority: config.PriorityTD}
	if got := beyond(c, "runs/a"); !strings.HasSuffix(got, "pgrlab fork runs/a --steps N") {
		t.Errorf("%q", got)
	}
}
