package attach

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgrlab/tui/remote"
)

// A request waits for a lab that is starting or ending, and for nothing else.
func TestARequestWaitsForALabThatMoves(t *testing.T) {
	between, gone := fmt.Errorf("stop %w", remote.Between{Dir: "a"}), errors.New("no lab runs there")
	for name, c := range map[string]struct {
		finds []error // one after the other
		want  error
	}{
		"there": {[]error{nil}, nil}, "moves": {[]error{between, between, nil}, nil},
		"ends": {[]error{between, gone}, gone}, "none": {[]error{gone}, gone},
	} {
		found := 0
		_, _, err := listening(t.Context(), time.Hour, func() (string, remote.Dial, error) {
			found++
			return "a", nil, c.finds[found-1]
		})
		if !errors.Is(err, c.want) || found != len(c.finds) {
			t.Errorf("%s: %v after %d", name, err, found)
		}
	}
	if _, _, err := listening(t.Context(), time.Nanosecond, func() (string, remote.Dial, error) { return "", nil, between }); !errors.As(err, new(remote.Between)) {
		t.Errorf("for ever: %v", err)
	}
}
