package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/tui/testing/tmux"
)

// openLook runs the screen of a scripted run under tmux: the program is this test binary, which
// runs TestLook.
func openLook(t *testing.T, term string, w, h int, environment ...string) *tmux.Window {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	return tmux.Open(t, w, h, fmt.Sprintf("env TERM=%s COLORTERM= LC_ALL=C.UTF-8 PGRLAB_LOOK=1 PGRLAB_LOOK_LOG=%s %s %s -test.run '^TestLook$'; echo ENDED; cat %s; exec sleep 3600",
		term, log, strings.Join(environment, " "), os.Args[0], log))
}

// The screen works on the terminals that people have: start, change, preview, undo, palette, a
// resize while a dialog is open, leaving.
func TestFlowsUnderTmux(t *testing.T) {
	terms := []string{"tmux-256color"}
	if os.Getenv("PGRLAB_SOAK") != "" {
		terms = []string{"xterm-256color", "screen-256color", "tmux-256color", "linux"}
	}
	for _, term := range terms {
		t.Run(term, func(t *testing.T) {
			s := openLook(t, term, 160, 45)
			s.Await("RETURN")
			s.Press("128 rows", "Right")
			s.Press("#1", "Enter")
			s.Press("(undoes #1)", "z")
			s.Press("COMMANDS", ":")
			s.Type("note seen here")
			s.Press("noted", "Enter")
			s.Keys("q")
			s.ResizeInADialog("leave it training")
			s.Keys("d")
			if shown := s.Await("ENDED"); !strings.Contains(s.Await("detached"), "detached") || strings.Contains(shown, "RETURN") {
				t.Errorf("the terminal is not as it was:\n%s", shown)
			}
		})
	}
}

func TestDumbTerminalGetsLines(t *testing.T) {
	s := openLook(t, "dumb", 100, 30)
	s.Await("24,000  eval")
	s.Type("status")
	s.Press("running: After", "Enter")
	s.Type("quit")
	s.Press("leave it training", "Enter")
	s.Press("detached", "d", "Enter")
}

func TestNoColorEmitsNoColours(t *testing.T) {
	s := openLook(t, "xterm-256color", 120, 36, "NO_COLOR=1")
	s.Await("RETURN")
	for _, line := range strings.Split(s.Do("capture-pane", "-p", "-e"), "\n") {
		if strings.Contains(line, "\x1b[3") || strings.Contains(line, "\x1b[38") {
			t.Fatalf("a colour in %q", line)
		}
	}
}

// tmux is asked, and gets half blocks; neither the question nor the answer becomes visible.
func TestTmuxGetsBlocks(t *testing.T) {
	s := openLook(t, "tmux-256color", 120, 40, "COLORTERM=truecolor")
	title := s.Do("display-message", "-p", "#{pane_title}")
	s.Await("RETURN")
	s.Press("▀", "v")
	if now := s.Do("display-message", "-p", "#{pane_title}"); now != title {
		t.Errorf("the title %q became %q", title, now)
	}
	s.Press("leave it training", "q")
	s.Keys("d")
	s.Await("detached")
	if shown := s.Await("ENDED"); strings.Contains(shown, "[?1;2c") || strings.Contains(shown, ">|tmux") {
		t.Errorf("answers are seen:\n%s", shown)
	}
}
