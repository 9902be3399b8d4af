package picker

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"pgrlab/core/config"
	"pgrlab/presets"
	"pgrlab/tui/theme"
)

// What is expected of a run from pixels is given at its frame beside its env step.
func TestExpectedAtAFrame(t *testing.T) {
	for want, of := range map[string]presets.Choice{
		"expect 505 ± 9 over steps 10,500 to 12,500, frame 100,000 (3 runs)": {Task: "cartpole-swingup", Method: "drqv2", Scale: "demo"},
		"expect 250 ± 89 over steps 16,000 to 20,000 (13 runs)":              {Task: "cheetah-run", Method: "redq", Scale: "short"},
	} {
		c := Choices{Resolve: func(Picks) (config.Config, error) { return presets.Resolve(of) }}
		p := New(c, nil, nil, &theme.Theme{}, nil, nil, nil)
		if got := ansi.Strip(strings.Join(p.expects(200), "\n")); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
