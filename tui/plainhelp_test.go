package tui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
)

// linesFor runs lines of input beside a run and returns what is written.
func linesFor(t *testing.T, input string) (text string, f *fakeLab) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f = newFake()
		f.advance(24_000)
		var out bytes.Buffer
		about := pane.About{Config: fakeConfig(), WhatIf: &fakeWhatIf{at: &pane.WhatIfState{}}, Fork: (&nursery{}).fork}
		if _, err := runPlain(t.Context(), Options{About: about, Start: func() (pane.Lab, error) { return f, nil }}, strings.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		text = out.String()
	})
	return text, f
}

// The help of the screen as lines has only what lines can do: each of its commands is known, and none of
// them is about what only a screen draws.
func TestPlainHelpIsOfLines(t *testing.T) {
	p := newPlain(Options{About: pane.About{Config: fakeConfig()}}, strings.NewReader(""), &bytes.Buffer{})
	known := []string{"status", "runs", "forks", "help", "what-if", "KNOB", "esc"} // the loop takes these
	for _, b := range p.palette.keys {
		known = append(known, b.Name)
	}
	for _, v := range p.palette.verbs {
		known = append(known, v.Name)
	}
	for _, c := range lineCommands {
		if !slices.Contains(known, c.name) {
			t.Errorf("%s is no command", c.name)
		}
	}
	for _, line := range p.helpLines() {
		for _, drawn := range []string{"pane", "chart", "marker", "cursor", "tab ", "arrow", "press", "KEYS", "screen"} {
			if strings.Contains(line, drawn) {
				t.Errorf("%q speaks of %q", line, drawn)
			}
		}
	}
	text, _ := linesFor(t, "help\n")
	for _, line := range p.helpLines() {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("help leaves out %q", line)
		}
	}
}

// Every command that the help lists does something or says why not; no line of it is called unknown, or
// something for a screen. Commands of a screen are.
func TestPlainTakesItsCommands(t *testing.T) {
	for _, c := range lineCommands {
		argument := map[string]string{"[TOPIC]": " undo", "VALUE": "", "KNOB VALUE": " guidance 3", "KNOB [@STEP]": " guidance", "TEXT": " x", "DIR": " nowhere", "NAME": " guidance"}[c.takes]
		line := c.name + argument
		if c.name == "KNOB" {
			line = "guidance 3"
		}
		text, _ := linesFor(t, line+"\n")
		for _, wrong := range []string{"no such command", "is for a screen"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s: %s", line, text)
			}
		}
	}
	p := newPlain(Options{About: pane.About{Config: fakeConfig()}}, strings.NewReader(""), &bytes.Buffer{})
	n := len(p.drawn)
	text, _ := linesFor(t, strings.Join(p.drawn, "\n")+"\n")
	if got := strings.Count(text, "is for a screen, not for lines: help lists the commands"); got != n || n == 0 {
		t.Errorf("%d of %d commands of a screen are refused:\n%s", got, n, text)
	}
	if text, _ := linesFor(t, "nonsense 3\n"); !strings.Contains(text, "(help lists all)") || strings.Contains(text, "tab") {
		t.Error(text)
	}
}

// Keys that messages name may be typed: D takes over, P parks.
func TestPlainTakesTheKeysOfItsCommands(t *testing.T) {
	_, f := linesFor(t, "P\n")
	if !slices.ContainsFunc(f.commands, func(c event.Command) bool { _, is := c.(event.Park); return is }) {
		t.Errorf("P sent %v", f.commands)
	}
	text, _ := linesFor(t, "D\n")
	if !strings.Contains(text, "this screen drives") {
		t.Error(text)
	}
}

// Every topic is answered: commands, knobs by name and symbol, and numbers by the words of their names.
func TestPlainHelpHasItsTopics(t *testing.T) {
	p := newPlain(Options{About: pane.About{Config: fakeConfig()}}, strings.NewReader(""), &bytes.Buffer{})
	topics := []string{"knobs", "dormant", "guidance", "ω", "omega", "synthetic"}
	for _, c := range lineCommands {
		topics = append(topics, c.name)
	}
	for _, k := range p.KnobList {
		topics = append(topics, k.Name, pane.Symbol(k))
	}
	for _, d := range p.helpContents().Numbers {
		topics = append(topics, d.Name, strings.ToLower(d.Name))
		topics = append(topics, d.Shown...)
	}
	for _, topic := range topics {
		if len(p.about(topic)) == 0 && topic != "omega" {
			t.Errorf("help %s has no answer", topic)
		}
	}
	text, _ := linesFor(t, "help dormant\nhelp guidance\nhelp zoom-pane\nhelp xyzzy\n")
	for _, want := range []string{"DORMANT RATIO (Sokar): The share of", "DORMANT RATIO (DrM): ", "guidance (ω), now 2: ", `nothing here is called "xyzzy"`, `nothing here is called "zoom-pane"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
