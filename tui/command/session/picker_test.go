package session

import (
	"context"
	"io"
	"testing"

	"pgrlab/tui"
	"pgrlab/tui/testing/commandtest"
)

// The first screen opens again after a run of the past, until the person leaves it.
func TestTheFirstScreenOpensAgain(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	d, shown := commandtest.Deps(), 0
	d.Screen = func(_ context.Context, o tui.Options) (tui.Outcome, error) {
		if o.Picker == nil {
			t.Error("it is not the first screen")
		}
		if shown++; shown < 3 {
			return tui.FirstScreenRequested, nil
		}
		return tui.Detached, nil
	}
	if err := PickOnScreen(t.Context(), d, io.Discard); err != nil || shown != 3 {
		t.Errorf("shown %d times, want 3; %v", shown, err)
	}
}
