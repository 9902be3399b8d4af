package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"pgrlab/tui/pane"
)

// The pane leaves out what NVML does not know and what there is no room for.
func TestSystemPaneShowsTheGPU(t *testing.T) {
	m := New(Options{About: pane.About{Config: fakeConfig()}})
	m.system.Machine.At, m.system.Machine.BusyPast = m.Now(), []float64{1}
	g := &pane.GPU{Busy: 0.87, Used: 12.3 * (1 << 30), Total: 141 * (1 << 30), Temperature: 61, Power: 420}
	for _, c := range []struct {
		g    pane.GPU
		w    int
		want string
	}{
		{*g, 60, "busy 87%  memory 12.3 GiB of 141.0 GiB  61 °C  420 W"},
		{*g, 47, "busy 87%  memory 12.3 GiB of 141.0 GiB  61 °C"},
		{*g, 10, "busy 87%"},
		{pane.GPU{Busy: -1, Used: -1, Temperature: -1, Power: -1}, 60, "busy -"},
	} {
		m.options.GPU = func() *pane.GPU { return &c.g }
		text := ansi.Strip(strings.Join(m.system.Body(c.w+7, 10), "\n")) // without the line's label
		_, line, found := strings.Cut(text, "GPU")
		line, _, _ = strings.Cut(line, "\n")
		if got := strings.TrimSpace(line); !found || got != c.want {
			t.Errorf("%d columns: %q, want %q, in\n%s", c.w, got, c.want, text)
		}
	}
	for _, known := range []func() *pane.GPU{nil, func() *pane.GPU { return nil }, func() *pane.GPU { return g }} {
		m.options.GPU = known
		text := ansi.Strip(strings.Join(m.system.Body(80, 10), "\n"))
		if shown := strings.Contains(text, "GPU"); shown != (known != nil && known() != nil) {
			t.Errorf("the pane:\n%s", text)
		}
	}
}
