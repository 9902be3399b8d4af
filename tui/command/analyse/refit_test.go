package analyse

import (
	"bytes"
	"testing"
	"time"

	"pgrlab/core/inspect"
	"pgrlab/tui/command/terminal"
)

// The remaining time of a long fit is right.
func TestTheETAOfALongFit(t *testing.T) {
	var out bytes.Buffer
	p := refitProgress{Progress: terminal.NewProgress(&out), saved: 1}
	begin := time.Unix(1000, 0)
	p.show(inspect.OfflineProgress{Step: 7, Doing: "fit", Of: 1_000_000}, begin)
	p.show(inspect.OfflineProgress{Step: 7, Doing: "fit", Done: 100_000, Of: 1_000_000}, begin.Add(3*time.Hour))
	if want := "step 7  fit  0/1000000\nstep 7  fit  100000/1000000  eta 27:00:00\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
