package tui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// terminalServer is a tmux server of its own, with the screen of a scripted run in
// it: the program below is this test binary, which runs TestLook.
type terminalServer struct {
	t    *testing.T
	name string
}

func newTerminal(t *testing.T, term string, w, h int, environment ...string) *terminalServer {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here")
	}
	s := &terminalServer{t: t, name: fmt.Sprintf("pgrlab-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))}
	log := filepath.Join(t.TempDir(), "log")
	command := fmt.Sprintf("env TERM=%s COLORTERM= LC_ALL=C.UTF-8 PGRLAB_LOOK=1 PGRLAB_LOOK_LOG=%s %s %s -test.run '^TestLook$'; echo ENDED; cat %s; exec sleep 60",
		term, log, strings.Join(environment, " "), os.Args[0], log)
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), command)
	t.Cleanup(func() { exec.Command("tmux", "-L", s.name, "kill-server").Run() })
	return s
}

func (s *terminalServer) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", s.name}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (s *terminalServer) keys(keys ...string) { s.tmux(append([]string{"send-keys"}, keys...)...) }

// await polls the terminal until it shows text; it returns what it shows.
func (s *terminalServer) await(text string) string {
	s.t.Helper()
	limit := time.Now().Add(30 * time.Second)
	for {
		shown := s.tmux("capture-pane", "-p")
		if strings.Contains(shown, text) {
			return shown
		}
		if time.Now().After(limit) {
			s.t.Fatalf("no %q on the terminal:\n%s", text, shown)
		}
		time.Sleep(20 * time.Millisecond) // between two looks at another program, which cannot tell us
	}
}

// The screen on the terminals that people have: start, change, preview, undo,
// palette, resize in the middle of a dialog, leaving.
func TestFlowsUnderTmux(t *testing.T) {
	terms := []string{"tmux-256color"}
	if os.Getenv("PGRLAB_SOAK") != "" {
		terms = []string{"xterm-256color", "screen-256color", "tmux-256color", "linux"}
	}
	for _, term := range terms {
		t.Run(term, func(t *testing.T) {
			s := newTerminal(t, term, 160, 45)
			s.await("RETURN")
			s.keys("Down", "Right")
			s.await("256 samples")
			s.keys("Enter")
			s.await("#1")
			s.keys("z")
			s.await("(undoes #1)")
			s.keys(":")
			s.await("COMMANDS")
			s.keys("-l", "note seen here")
			s.keys("Enter")
			s.await("noted")
			s.keys("q")
			s.await("leave it training")
			s.tmux("resize-window", "-x", "80", "-y", "24")
			s.await("leave it training")
			s.tmux("resize-window", "-x", "30", "-y", "5")
			s.tmux("resize-window", "-x", "120", "-y", "36")
			s.await("leave it training")
			s.keys("d")
			if shown := s.await("ENDED"); !strings.Contains(s.await("detached"), "detached") || strings.Contains(shown, "RETURN") {
				t.Errorf("the terminal is not as it was:\n%s", shown)
			}
		})
	}
}

func TestDumbTerminalGetsLines(t *testing.T) {
	s := newTerminal(t, "dumb", 100, 30)
	s.await("24,000  eval")
	s.keys("-l", "status")
	s.keys("Enter")
	s.await("running: After")
	s.keys("-l", "quit")
	s.keys("Enter")
	s.await("leave it training")
	s.keys("d", "Enter")
	s.await("detached")
}

func TestNoColorEmitsNoColours(t *testing.T) {
	s := newTerminal(t, "xterm-256color", 120, 36, "NO_COLOR=1")
	s.await("RETURN")
	for _, line := range strings.Split(s.tmux("capture-pane", "-p", "-e"), "\n") {
		if strings.Contains(line, "\x1b[3") || strings.Contains(line, "\x1b[38") {
			t.Fatalf("a colour in %q", line)
		}
	}
}

// Frames are the same in every locale, also where characters of ambiguous width have
// two columns for other programs: the golden frames, drawn by a process of each. C
// stands for a locale without UTF-8.
func TestFramesDoNotDependOnTheLocale(t *testing.T) {
	if os.Getenv("PGRLAB_LOCALE") != "" {
		t.Skip("this is such a process")
	}
	for _, locale := range []string{"C", "ja_JP.UTF-8", "zh_CN.UTF-8"} {
		c := exec.Command(os.Args[0], "-test.run", "^(TestGolden|TestPanes|TestPicker|TestEntr|TestPalette|TestLesson)")
		c.Env = append(os.Environ(), "PGRLAB_LOCALE=1", "LC_ALL="+locale, "LANG="+locale, "LC_CTYPE="+locale)
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
			t.Errorf("%s: %v\n%s", locale, err, out)
		}
	}
}
