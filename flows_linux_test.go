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
	back string // how many lines above the window are looked at, too
}

// openWindow runs a command line of the program under tmux, on a terminal of a kind.
func openWindow(t *testing.T, term, locale string, args ...string) *window {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here")
	}
	w := &window{t: t, back: "0", name: fmt.Sprintf("pgrlab-flows-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))}
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
		if shown = w.tmux("capture-pane", "-p", "-S", w.back); strings.Contains(shown, text) {
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

// kinds are the kinds of terminals that people have, but for those that can do
// nothing: these get lines.
var kinds = []string{"xterm-256color", "screen-256color", "tmux-256color", "linux"}

// A person's way through the real program: change with preview, undo, palette, fork,
// a lesson from its beginning to its end, a resize in the middle of a dialog, leaving,
// and a terminal that hangs up.
func TestFlowsOfTheProgram(t *testing.T) {
	setUp(t)
	for _, term := range kinds {
		t.Run(term, func(t *testing.T) {
			if !soaking() && term != "tmux-256color" {
				t.Skip("the short form is TestStartAndLeave: PGRLAB_SOAK=1")
			}
			w, dir := openRun(t, term)
			w.await("RETURN")
			w.press("2 of 18", "j")
			w.press("256 samples", "Right") // the preview
			w.press("#2 ", "Enter")
			w.press("(undoes #2)", "z")
			w.say("noted", "note seen here")
			w.press("1 staged", "Right")
			w.press("do not fork", "f")
			w.press("train, ", "1")
			w.say("it says nothing about the knob", "pane runs")
			w.press("KNOBS", "1")
			lesson(w)
			quitAndResize(w)
			w.press("RETURN", "Escape")
			hangUp(t, w, dir)
		})
	}
}

// The same on every kind of terminal in short: start, change, undo, a resize in the
// middle of the quit dialog, and stop.
func TestStartAndLeave(t *testing.T) {
	setUp(t)
	for _, term := range kinds {
		t.Run(term, func(t *testing.T) {
			w, _ := openRun(t, term)
			w.await("1 of 18")
			w.press("2 of 18", "j") // two keys in one reading are no keys
			w.press("3 of 18", "j")
			w.press("1 staged", "Right")
			w.press("#2 ", "Enter")
			w.press("(undoes #2)", "z")
			quitAndResize(w)
			w.press("ENDED 0", "s")
		})
	}
}

// The whole way in lines.
func TestFlowsInLines(t *testing.T) {
	setUp(t)
	w, dir := openRun(t, "dumb")
	w.back = "-500" // lines go by
	enter := func(text, line string) {
		t.Helper()
		w.tmux("clear-history")
		if line != "" {
			w.tmux("send-keys", "-l", line)
		}
		w.press(text, "Enter")
	}
	enter("256 samples", "stage guidance 3")
	enter("#2 ω guidance 2 → 3 now  asked", "apply")
	enter("(undoes #2)", "undo")
	enter("noted", "note seen here")
	enter("staged r 0.5", "stage ratio 0.75")
	enter("type 1: one pair", "fork")
	enter("2 children train", "1")
	enter("step 1 of 6", "lesson guidance")
	enter("type enter stage guidance=0", "")
	enter("type 1 rises", "")
	enter("You said: rises", "1")
	enter("step 6 of 6", "")
	enter("the lesson is over", "")
	enter("leave it training", "quit")
	hangUp(t, w, dir)
}

// openRun opens a run that has a generator at once and no refits afterwards.
func openRun(t *testing.T, term string) (w *window, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	w = openWindow(t, term, "C.UTF-8", "--preset", "tiny.toml", "--steps", "1_000_000", "--at", "200:refit_every=1_000_000", "--out", dir)
	t.Cleanup(func() {
		if t.Failed() { // the run survives its terminal
			c, _ := child(t, "stop", dir)
			_ = c.Run()
		}
	})
	w.await("#1 ") // there is a generator, and it is left alone
	return w, dir
}

// quitAndResize opens the quit dialog, which stands through sizes large and small.
func quitAndResize(w *window) {
	w.t.Helper()
	w.press("leave it training", "q")
	w.tmux("resize-window", "-x", "80", "-y", "24")
	w.await("leave it training")
	w.tmux("resize-window", "-x", "30", "-y", "5")
	w.tmux("resize-window", "-x", "120", "-y", "36")
	w.await("leave it training")
}

// hangUp takes the terminal away; the run goes on and can be stopped.
func hangUp(t *testing.T, w *window, dir string) {
	t.Helper()
	w.tmux("kill-server")
	eventually(t, "the run goes on without its terminal", func() bool {
		doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
		return err == nil && strings.Contains(string(doc), `"type":"detached"`)
	})
	if status := pgrlabStop(t, dir); !strings.Contains(status, "stopped") {
		t.Error(status)
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

// A locale without UTF-8 gets plain characters.
func TestPlainCharacters(t *testing.T) {
	setUp(t)
	w := openWindow(t, "xterm-256color", "C", "--preset", "tiny.toml", "--out", "plain")
	shown := w.await("KNOBS")
	for i, r := range shown {
		if r >= 0x80 {
			t.Fatalf("%q outside ASCII in %q", r, shown[max(0, i-40):min(len(shown), i+40)])
		}
	}
}
