package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
	"pgrlab/presets"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// A journal of any contents is read, or refused in words, and what was read can be shown: its lines may come
// from another person, and numbers in them are as large as that person likes.
func FuzzJournal(f *testing.F) {
	whole, err := os.ReadFile("../docs/demo/" + run.JournalName)
	if err != nil {
		f.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	begin := lines[0]
	seen := map[string]bool{}
	for _, l := range lines[1:] {
		kind, _, _ := bytes.Cut(l, []byte(","))
		if !seen[string(kind)] {
			seen[string(kind)] = true
			f.Add(l)
		}
	}
	config, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, more []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, run.JournalName), bytes.Join([][]byte{begin, more}, nil), 0o644); err != nil {
			t.Fatal(err)
		}
		events, err := history.ReadJournal(dir)
		if err != nil {
			return
		}
		showAll(t, pane.About{Config: config, Folder: dir, Replay: true}, events, events[len(events)-1].Step)
	})
}

// Lines whose numbers, texts and lists are what no run writes are refused, or can be shown. Lines of one kind
// stand in one journal.
func TestLinesOfAnyContents(t *testing.T) {
	racing.Skip(t)
	whole, err := os.ReadFile("../docs/demo/" + run.JournalName)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	config, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]map[string]any{} // the last line of each kind, which has most in it
	for _, l := range lines[1:] {
		var fields map[string]any
		if json.Unmarshal(l, &fields) == nil {
			of[fields["type"].(string)] = fields
		}
	}
	shown := 0
	for kind, fields := range of {
		for _, odd := range []any{-1.0, 0.5, 1e18, 1e300, "NaN", strings.Repeat("w", 500), "\x1b[2J\n", []any{}, nil} {
			dir, more := t.TempDir(), bytes.Clone(lines[0])
			eachLeaf(fields, func(set func(any), was any) {
				set(odd)
				if line, err := json.Marshal(fields); err == nil && readable(t, dir, append(bytes.Clone(lines[0]), line...)) {
					more = append(append(more, line...), '\n')
				}
				set(was)
			})
			if !readable(t, dir, more) {
				continue // a line that is good alone may contradict another
			}
			events, err := history.ReadJournal(dir)
			if err != nil {
				t.Fatal(err)
			}
			shown += len(events)
			t.Run(fmt.Sprintf("%s of %.9q", kind, fmt.Sprint(odd)), func(t *testing.T) {
				showAll(t, pane.About{Config: config, Folder: dir, Replay: true}, events, events[len(events)-1].Step)
			})
		}
	}
	if shown < 300 {
		t.Errorf("%d lines were shown", shown)
	}
}

// readable writes a journal into a folder and says whether it can be read.
func readable(t *testing.T, dir string, text []byte) bool {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, run.JournalName), text, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := history.ReadJournal(dir)
	return err == nil
}

// eachLeaf calls do for all values in an object that are in no other one but their type, with a function that
// replaces the value.
func eachLeaf(object map[string]any, do func(set func(any), was any)) {
	for name, was := range object {
		if name == "type" {
			continue
		}
		if inner, is := was.(map[string]any); is {
			eachLeaf(inner, do)
		}
		if list, is := was.([]any); is && len(list) > 0 {
			first := list[0]
			do(func(v any) { list[0] = v }, first)
		}
		do(func(v any) { object[name] = v }, was)
	}
}

// showAll shows a run after a step, in each pane.
func showAll(t *testing.T, about pane.About, events []event.Event, at int) {
	shown, err := stillOf(about.Config, about.Folder, events, at)
	if err != nil {
		return
	}
	m := onPaper(about, shown, shown.now, 100, 30)
	for range len(m.panes) + 1 {
		m.Update(polled{})
		if text := m.View(); len(text) > 1<<20 {
			t.Fatalf("a screen of %d bytes", len(text))
		}
		m.Update(tea.KeyMsg{Type: tea.KeyTab})
	}
}
