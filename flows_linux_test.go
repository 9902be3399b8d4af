package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/run"
)

// window is the program in a window of a tmux server of its own.
type window struct {
	t    *testing.T
	name string
}

// openWindow runs a command line of the program under tmux, on a terminal of a kind.
func openWindow(t *testing.T, term, locale string, args ...string) *window {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here")
	}
	w := &window{t, fmt.Sprintf("pgrlab-flows-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))}
	cache, _ := os.UserCacheDir() // of the compiled physics
	command := fmt.Sprintf("env %s=1 TERM=%s COLORTERM= LC_ALL=%s HOME=%s XDG_CACHE_HOME=%s %s %s; echo ENDED $?; exec sleep 60",
		childVariable, term, locale, t.TempDir(), cache, os.Args[0], strings.Join(args, " "))
	w.tmux("-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "45", command)
	t.Cleanup(func() { exec.Command("tmux", "-L", w.name, "kill-server").Run() })
	return w
}

func (w *window) tmux(args ...string) string {
	w.t.Helper()
	c := exec.Command("tmux", append([]string{"-L", w.name}, args...)...)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// await polls the window until it shows text; it returns what it shows.
func (w *window) await(text string) (shown string) {
	w.t.Helper()
	limit := time.Now().Add(90 * time.Second)
	for {
		if shown = w.tmux("capture-pane", "-p"); strings.Contains(shown, text) {
			return shown
		}
		if time.Now().After(limit) {
			w.t.Fatalf("no %q in the window:\n%s", text, shown)
		}
		<-time.After(30 * time.Millisecond) // between two looks at another program, which cannot tell us
	}
}

// press sends keys, one after another, and waits for text.
func (w *window) press(text string, keys ...string) string {
	w.t.Helper()
	w.tmux(append([]string{"send-keys"}, keys...)...)
	return w.await(text)
}

// say gives a command in the palette.
func (w *window) say(text, command string) string {
	w.t.Helper()
	w.press("COMMANDS", ":")
	w.tmux("send-keys", "-l", command)
	w.await(":" + command)
	return w.press(text, "Enter")
}

// A person's way through the real program: change with preview, undo, palette, fork,
// a lesson from its beginning to its end, a resize in the middle of a dialog, leaving,
// and a terminal that hangs up.
func TestFlowsOfTheProgram(t *testing.T) {
	terms := []string{"tmux-256color"}
	if soaking() {
		terms = []string{"xterm-256color", "screen-256color", "tmux-256color", "linux"}
	}
	setUp(t)
	for _, term := range terms {
		t.Run(term, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			w := openWindow(t, term, "C.UTF-8", "--preset", "tiny.toml", "--steps", "1_000_000", "--at", "200:refit_every=1_000_000", "--out", dir)
			t.Cleanup(func() {
				if t.Failed() { // the run survives its terminal
					c, _ := child(t, "stop", dir)
					_ = c.Run()
				}
			})
			w.await("RETURN")
			w.await("D_syn ") // there is a generator
			w.press("2 of 18", "j")
			w.press("samples in", "Right") // the preview
			w.press("#1", "Enter")
			w.press("(undoes #1)", "z")
			w.say("noted", "note seen here")
			w.press("1 staged", "Right")
			w.press("do not fork", "f")
			w.press("train, ", "1")
			w.say("it says nothing about the knob", "pane runs")
			w.press("KNOBS", "1")
			lesson(w)
			w.press("leave it training", "q")
			w.tmux("resize-window", "-x", "80", "-y", "24")
			w.await("leave it training")
			w.tmux("resize-window", "-x", "30", "-y", "5")
			w.tmux("resize-window", "-x", "120", "-y", "36")
			w.await("leave it training")
			w.press("RETURN", "Escape")
			w.tmux("kill-server") // the terminal hangs up
			eventually(t, "the run goes on without its terminal", func() bool {
				doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
				return err == nil && strings.Contains(string(doc), `"type":"detached"`)
			})
			if status := pgrlabStop(t, dir); !strings.Contains(status, "stopped") {
				t.Error(status)
			}
		})
	}
}

// lesson goes through the lesson on guidance, which asks and reveals.
func lesson(w *window) {
	w.t.Helper()
	w.press("what ω does", "T")
	w.press("step 1 of", "2")
	w.press("stage guidance=0", "Enter")
	w.press("far beyond the condition", "Enter")
	w.press("You said: rises", "1")
	w.press("step 6 of 6", "Enter")
	w.press("RETURN", "Enter")
}

// pgrlabStop stops a run of another process, as pgrlab stop does.
func pgrlabStop(t *testing.T, dir string) string {
	t.Helper()
	c, stderr := child(t, "stop", dir)
	out, err := c.Output()
	if err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
	return string(out) + stderr.String()
}

// A terminal that can do nothing gets lines, and a locale without UTF-8 plain
// characters.
func TestPoorTerminals(t *testing.T) {
	setUp(t)
	t.Run("dumb", func(t *testing.T) {
		openWindow(t, "dumb", "C", "--preset", "tiny.toml", "--out", "lines").await("150  eval")
	})
	t.Run("C", func(t *testing.T) {
		w := openWindow(t, "xterm-256color", "C", "--preset", "tiny.toml", "--out", "plain")
		shown := w.await("KNOBS")
		for i, r := range shown {
			if r >= 0x80 {
				t.Fatalf("%q outside ASCII in %q", r, shown[max(0, i-40):min(len(shown), i+40)])
			}
		}
	})
}
