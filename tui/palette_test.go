package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
)

func (s *screen) typeLine(text string) {
	s.press(":")
	for _, r := range text {
		s.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	s.press("enter")
}

func TestPaletteDoesWhatKeysDo(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.typeLine("ratio 0.75")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.Knob != "ratio" || c.Value != "0.75" {
		t.Errorf("sent %#v", s.lastCommand())
	}
	s.typeLine("ω=3 @30000")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.Knob != "guidance" || c.At == nil || c.At.Step != 30_000 {
		t.Errorf("sent %#v", s.lastCommand())
	}
	s.contains(t, "for step 30,000")
	s.typeLine("ratio 0.75 @100")
	s.contains(t, "step 100 has passed")
	s.typeLine("F td!")
	s.contains(t, "apply F curiosity → td")
	s.press("esc")
	s.typeLine("nonsense")
	s.contains(t, "no such command")
	s.typeLine("layout present")
	s.contains(t, "THE LOOP")
	s.typeLine("pause")
	s.contains(t, "‖ PAUSED")
	s.typeLine("quit")
	s.contains(t, "leave it training")
}

func TestPaletteCompletesAndRemembers(t *testing.T) {
	home := t.TempDir()
	s := newScreen(t, 160, 45, func(o *Options) { o.Home = home })
	s.fake.advance(24_000)
	s.Update(started{lab: s.fake})
	s.press(":", "g", "u", "i", "d", "tab")
	if s.entry.Text() != "guidance " {
		t.Errorf("gu completes to %q", s.entry.Text())
	}
	s.press("esc")
	s.typeLine("ratio 0.25")
	again := newScreen(t, 160, 45, func(o *Options) { o.Home = home })
	again.Update(started{lab: again.fake})
	again.press(":", "up")
	if again.entry.Text() != "ratio 0.25" {
		t.Errorf("the next screen remembers %q", again.entry.Text())
	}
}

// Every command that the palette offers is one that it accepts.
func TestEveryCandidateIsACommand(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	for _, c := range s.palette.candidates("") {
		name := strings.TrimSpace(c.Text)
		_, err := s.FindKnob(name)
		known := s.palette.bound(name) || err == nil
		for _, v := range s.palette.verbs {
			known = known || v.Name == name
		}
		if !known || c.About == "" {
			t.Errorf("%q is offered, and not known", c.Text)
		}
	}
}

// What was written into the file of settings while the screen was open stays there, and a file that
// cannot be read is left alone.
func TestSavedSettingsKeepWhatTheScreenDoesNotSet(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, settingsFile)
	s := newScreen(t, 160, 45, func(o *Options) { o.Home = home })
	s.Update(started{lab: s.fake})
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("glyphs = 'ascii'\n[keys]\nundo = ['u']\n[profile.gpu]\nsbatch = ['--partition=gpu']\n")
	s.typeLine("layout full")
	s.typeLine("refresh 2")
	s.typeLine("save-settings")
	got, err := LoadSettings(home)
	if err != nil || got.Layout != "full" || got.Refresh != 2 || got.Glyphs != "ascii" || len(got.Keys["undo"]) != 1 || len(got.Profile["gpu"].Sbatch) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	write("layuot = 'full'\n")
	s.typeLine("save-settings")
	s.contains(t, "save settings: read settings")
	if text, err := os.ReadFile(file); err != nil || string(text) != "layuot = 'full'\n" {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

// A line of the palette that begins with no command and no knob is answered with what may have been
// meant.
func TestUnknownCommandsAreAnsweredWithTheNearest(t *testing.T) {
	s := running(t, 250, 45, 24_000)
	for line, want := range map[string]string{
		"gamma 0.9": `"agent.gamma" is set where a run begins`,
		"hidden=64": `"agent.hidden"`,
		"lr 3e-4":   `did you mean "lr_actor", "lr_critic" or "lr_generator"?`,
		"omga 3":    `did you mean "omega"?`,
		"compar x":  `did you mean "compare"?`,
		"checkpont": `did you mean "checkpoint"?`,
		"zzz":       "tab after : lists all",
		"F foo":     `relevance: "foo" is no choice`,
		"fork 4":    `"4" is too much: type fork alone`,
		"steps 50k": "the length is fixed while a run goes on: stop it, then pgrlab --resume DIR --steps N",
	} {
		s.typeLine(line)
		s.contains(t, want)
		s.press("esc")
	}
	s.typeLine("omega 3")
	if c, ok := s.lastCommand().(event.SetKnob); !ok || c.Knob != "guidance" || c.Value != "3" {
		t.Errorf("sent %#v", s.lastCommand())
	}
}

// Screens that are open at the same time remember each other's commands; where nothing can be written, a
// screen remembers its own.
func TestScreensRememberTogether(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{home: "refresh 1, layout full, refresh 3", filepath.Join(file, "nowhere"): ""} {
		open := func() *screen {
			s := newScreen(t, 160, 45, func(o *Options) { o.Home = at })
			s.Update(started{lab: s.fake})
			return s
		}
		a, b := open(), open()
		a.typeLine("refresh 1")
		b.typeLine("layout full")
		a.typeLine("refresh 3")
		if got := strings.Join(open().palette.memory.Commands, ", "); got != want {
			t.Errorf("%s: the next screen remembers %q, want %q", at, got, want)
		}
		if all := a.palette.memory.Commands; len(all) < 2 || all[len(all)-1] != "refresh 3" || all[0] != "refresh 1" {
			t.Errorf("%s: a screen remembers %q of its own", at, all)
		}
	}
}
