package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/event"
)

// A folder without a run is said to be one, and not what the file system says.
func TestReadJournalWhereNoRunIs(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "nosuch")} {
		_, err := ReadJournal(dir)
		if err == nil || !strings.Contains(err.Error(), "no run is there: want a folder with events.jsonl") || strings.Contains(err.Error(), "stat") {
			t.Errorf("%v", err)
		}
	}
}

// Changes stand in the order in which they were made, also one that was planned before others.
func TestAPlannedChangeIsTheLastOneMade(t *testing.T) {
	h := New(0, 1)
	h.Changes = []*Change{{Ref: "a", Knob: "guidance", At: 20000}, {Ref: "b", Knob: "ratio"}, {Ref: "c", Knob: "utd", At: 30000}}
	h.Take(event.Event{Index: 0, Step: 12000, Member: event.NoMember, Body: event.KnobChanged{ID: 1, Knob: "ratio", Obs: event.KnobObs{Ref: "b"}}})
	h.Take(event.Event{Index: 1, Step: 20000, Member: event.NoMember, Body: event.KnobChanged{ID: 2, Knob: "guidance", Obs: event.KnobObs{Ref: "a"}}})
	if u, l := h.LastUndoable().Number, h.LastApplied().Number; u != 2 || l != 2 {
		t.Errorf("undo takes back #%d, and #%d is the last change, want #2", u, l)
	}
	if h.Changes[2].Knob != "utd" {
		t.Errorf("what is still to come is %s", h.Changes[2].Knob)
	}
}

// What no run has written is left out or refused before a screen counts on it: predictions without their numbers,
// members that the run does not have.
func TestJournalsThatNoRunWrote(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"open_loop","step":1,"context":1,"horizon":[1,2],"error":[1,2],"held":[]}`:                      "",
		`{"type":"open_loop","step":1,"context":1,"horizon":[1],"error":[1],"held":[1],"shown":[{"number":-1}]}`: "",
		`{"type":"dormant","step":1,"member":4000000000000000000,"ratio":0.1,"ratio_drm":0.1,"tau":0.1}`:         "journal line 2: member 4000000000000000000 of 2",
	} {
		dir := t.TempDir()
		text := `{"type":"start","step":0,"task":"a","method":"b","members":2,"obs":{}}` + "\n" + line + "\n" + `{"type":"done","step":1,"steps":1}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		events, err := ReadJournal(dir)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
			continue
		}
		h := New(0, 1)
		for _, e := range events {
			h.Take(e)
		}
		if h.OpenLoop != nil {
			t.Errorf("%s is shown", line)
		}
	}
}
