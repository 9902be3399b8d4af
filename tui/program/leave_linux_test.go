package program

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/remote"
)

// leavings are the ways to leave a run: the keys that are typed in a row, and the text that shows
// that they were understood.
var leavings = []struct {
	name  string
	plain bool
	keys  [][2]string
}{
	{"q d", false, [][2]string{{"q", "leave it training"}, {"d", ""}}},
	{"ctrl-z", false, [][2]string{{"\x1a", ""}}},
	{"ctrl-z while typing", false, [][2]string{{":", "COMMANDS"}, {"note it", "note it"}, {"\x1a", ""}}},
	{"ctrl-z in a dialog", false, [][2]string{{"q", "leave it training"}, {"\x1a", ""}}},
	{"ctrl-z in the help", false, [][2]string{{"?", "HELP"}, {"\x1a", ""}}},
	{"quit in lines", true, [][2]string{{"quit\n", "leave it training"}, {"d\n", ""}}},
	{"ctrl-z in lines", true, [][2]string{{"\x1a", ""}}},
}

// private gives the runs of a test their own sockets.
func private(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sockets") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
}

// undisturbed returns the canonical journal of a run that no one left.
func undisturbed(t *testing.T, how []string) string {
	t.Helper()
	c, said := child(t, append([]string{"train", "--out", "undisturbed"}, how...)...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	return canonical(t, "undisturbed")
}

// ends waits for the end of a run in another process.
func ends(t *testing.T, dir string) {
	t.Helper()
	eventually(t, dir+" ends", func() bool {
		doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
		return err == nil && strings.Contains(string(doc), `"type":"done"`)
	})
	awaitEnds(t, dir)
}

// status waits for the program's end.
func (p *person) status() int {
	p.t.Helper()
	<-p.ended
	return p.command.ProcessState.ExitCode()
}

// changing is a run with refits and with changes at given positions.
var changing = []string{"--preset", "tiny.toml", "--seed", "5", "--threads", "1", "--at", "100:ratio=0.25", "--at", "120/generate:3:relevance=td!"}

// However a run is left, the terminal is free again, the run continues in a process of its own, and
// its journal is that of an uninterrupted run.
func TestARunThatIsLeftGoesOn(t *testing.T) {
	setUp(t)
	private(t)
	want := undisturbed(t, changing)
	for i, way := range leavings {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			dir := fmt.Sprintf("left-%d", i)
			h := holdAt(t, 5, 103+7*i) // more steps than the next process makes in any one environment
			args := append([]string{"--out", dir}, changing...)
			if way.plain {
				args = append(args, "--plain")
			}
			p := sitDown(t, []string{h.setting}, args...)
			held := h.await()
			p.await(map[bool]string{false: "KNOBS", true: "one line per event"}[way.plain])
			for _, k := range way.keys {
				if k[1] != "" {
					p.press(k[0], k[1])
				} else {
					p.press(k[0], "saving") // and then it waits for the end of the step
				}
			}
			held.release()
			p.await("pgrlab attach " + dir)
			if status := p.status(); status != 0 {
				t.Errorf("status %d", status)
			}
			ends(t, dir)
			if got := canonical(t, dir); got != want {
				line, a, b, _, _ := run.Diff(strings.NewReader(want), strings.NewReader(got))
				t.Errorf("line %d is\n%s\nwant\n%s", line, b, a)
			}
			if n := types(t, dir); n[event.TypeDetached] != 1 || n[event.TypeResume] != 1 {
				t.Errorf("journal: %v", n)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "events.tail-*")); len(left) > 0 {
				t.Errorf("lines after the checkpoint: %v", left)
			}
			eventually(t, "its notice goes", func() bool { // it goes after the lock of the run
				_, err := os.Stat(filepath.Join(dir, remote.NoticeName))
				return os.IsNotExist(err)
			})
		})
	}
}

// If the run cannot be handed over, it stays in its process, the screen says why, and the journal
// is not affected.
func TestARunThatCannotBeLeftStays(t *testing.T) {
	setUp(t)
	private(t)
	want := early(undisturbed(t, changing))
	tests := []struct {
		name    string
		setting []string
		spoil   func(dir string) error
		mend    func(dir string) error
		late    bool // it fails only when the run is about to be saved, or has been
		said    string
	}{
		{name: "no configuration", said: "no run is there",
			spoil: func(dir string) error { return os.Rename(dir+"/config.toml", dir+"/away") },
			mend:  func(dir string) error { return os.Rename(dir+"/away", dir+"/config.toml") }},
		{name: "no log can be written", said: "train.log is a folder",
			spoil: func(dir string) error { return os.Mkdir(dir+"/train.log", 0o755) },
			mend:  func(dir string) error { return os.Remove(dir + "/train.log") }},
		{name: "no checkpoint can be written", said: "not a directory", late: true,
			spoil: func(dir string) error { return os.WriteFile(dir+"/checkpoints", nil, 0o644) },
			mend:  func(dir string) error { return os.Remove(dir + "/checkpoints") }},
		{name: "no device", said: errNoDevice.Error(), late: true, setting: []string{failVariable + "=1"}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := fmt.Sprintf("stays-%d", i)
			h := holdAt(t, 5, 110)
			p := sitDown(t, append([]string{h.setting}, tt.setting...), slices.Concat([]string{"--out", dir}, changing, []string{"--steps", "1_000_000"})...)
			held := h.await()
			p.await("KNOBS")
			if tt.spoil != nil {
				if err := tt.spoil(dir); err != nil {
					t.Fatal(err)
				}
			}
			p.forget()
			p.terminal.WriteString("\x1a")
			if tt.late {
				p.await("saving")
				held.release()
			}
			p.await("the run stays here")
			p.await(tt.said)
			if tt.mend != nil {
				if err := tt.mend(dir); err != nil {
					t.Fatal(err)
				}
			}
			held.release()
			eventually(t, "it trains on", func() bool {
				doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
				return err == nil && strings.Contains(string(doc), `"type":"evaluated","step":150`)
			})
			p.press("q", "leave it training")
			p.terminal.WriteString("s")
			if status := p.status(); status != 0 {
				t.Errorf("status %d", status)
			}
			if got := early(canonical(t, dir)); got != want {
				line, a, b, _, _ := run.Diff(strings.NewReader(want), strings.NewReader(got))
				t.Errorf("line %d is\n%s\nwant\n%s", line, b, a)
			}
		})
	}
}

// early returns the lines of a journal before the point where the length of the run makes a
// difference.
func early(journal string) string {
	var b strings.Builder
	for line := range strings.Lines(journal) {
		var l struct{ Step int }
		if json.Unmarshal([]byte(line), &l) == nil && l.Step < 150 {
			b.WriteString(line)
		}
	}
	return b.String()
}

// A paused run stays paused when it is left.
func TestAPausedRunIsLeft(t *testing.T) {
	setUp(t)
	private(t)
	p := sitDown(t, nil, append([]string{"--out", "run"}, slices.Concat(changing, []string{"--steps", "1_000_000"})...)...)
	p.await("KNOBS")
	p.press(" ", "PAUSED")
	p.press("\x1a", "stays paused without this terminal")
	if status := p.status(); status != 0 {
		t.Errorf("status %d", status)
	}
	eventually(t, "it is paused", func() bool {
		s, err := remote.Look(context.Background(), "run")
		return err == nil && s.State == "paused"
	})
	if said := pgrlabStop(t, "run"); !strings.Contains(said, "stopped and saved") {
		t.Error(said)
	}
	awaitEnds(t, "run")
}

// A process that is asked to end while it hands its run over saves the run and ends.
func TestASignalWhileLeaving(t *testing.T) {
	setUp(t)
	private(t)
	h := holdAt(t, 5, 110)
	p := sitDown(t, []string{h.setting}, append([]string{"--out", "run"}, changing...)...)
	held := h.await()
	p.await("KNOBS")
	p.press("\x1a", "saving")
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.await("once more in 1 to 5 s ends at once")
	held.release()
	if status := p.status(); status != 143 {
		t.Errorf("status %d", status)
	}
	awaitEnds(t, "run")
	c, said := child(t, "train", "--resume", "run", "--threads", "1")
	if err := c.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	if got, want := canonical(t, "run"), undisturbed(t, changing); got != want {
		line, a, b, _, _ := run.Diff(strings.NewReader(want), strings.NewReader(got))
		t.Errorf("line %d is\n%s\nwant\n%s", line, b, a)
	}
}
