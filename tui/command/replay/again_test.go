package replay

import (
	"strings"
	"testing"

	"pgrlab/core/event"
)

// A fork, and a run that people changed, are not repeated by their config.toml alone.
func TestHowARunIsMadeAgain(t *testing.T) {
	for _, c := range []struct {
		body any
		want string
	}{
		{event.Noted{Text: "forked"}, "pgrlab --preset runs/a/config.toml"},
		{event.KnobChanged{Obs: event.KnobObs{By: "schedule"}}, "pgrlab --preset runs/a/config.toml"},
		{event.KnobChanged{Obs: event.KnobObs{By: "screen"}}, "pgrlab card runs/a"},
		{event.Noted{Text: "forked at 300"}, "pgrlab card runs/a"},
	} {
		if got := Again("runs/a", []event.Event{{Body: c.body}}); !strings.HasSuffix(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.body, got, c.want)
		}
	}
}
