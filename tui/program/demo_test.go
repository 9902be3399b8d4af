package program

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
)

// The recorded run that comes with the program plays from anywhere, with all that its screen had: each phase
// of the loop, the agent, a row with its twin, and dreams beside the truth. It leaves no file behind.
func TestTheDemoPlays(t *testing.T) {
	d := setUp(t)
	t.Setenv("TMPDIR", t.TempDir())
	shown := 0
	d.Screen = func(_ context.Context, o tui.Options) (tui.Outcome, error) {
		shown++
		if o.Draw == nil || len(o.Names) != 17 || o.Layout != "present" || !strings.Contains(o.Message, "lesson pgr") { // keys are no commands of --plain
			t.Errorf("layout %s, names %v, message %s", o.Layout, o.Names, o.Message)
		}
		lab, err := o.Start()
		if err != nil {
			return tui.Detached, err
		}
		r := lab.(*tui.Replay)
		r.Send(event.Pause{})
		for _, p := range []knob.Phase{knob.Collect, knob.Score, knob.Fit, knob.Generate, knob.Evaluate} {
			if found := r.Reach(p); !found || r.Snapshot().Phase != p {
				t.Errorf("phase %s: %v, %s", p, found, r.Snapshot().Phase)
			}
		}
		r.Seek(0.9)
		s := r.Snapshot()
		if s.Moment == nil || s.Moment.Twin == nil || len(s.Pose) == 0 || s.Map == nil || s.Dreamt == nil || len(s.Dreamt.Rows) != event.MostDreams || s.Dreamt.Rows[0].Truth.True == nil {
			t.Errorf("at its end %+v", s)
		}
		if _, err := o.Draw(s.Dreamt.Rows[0].Truth.Poses[1], 40, 20); err != nil {
			t.Error(err)
		}
		return tui.Detached, nil
	}
	if status, out := pgrlab(t, d, io.Discard, "demo", "--plain"); status != cli.StatusDone || shown != 1 {
		t.Errorf("status %d: %s", status, out)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
