package cli

import (
	"errors"
	"fmt"
	"testing"
)

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, StatusDone},
		{errors.New("x"), StatusFailed},
		{fmt.Errorf("y: %w", Usagef("x")), StatusUsage},
	} {
		if got := ExitStatus(tt.err); got != tt.want {
			t.Errorf("status(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}
