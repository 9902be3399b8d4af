package tui

import (
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
)

// attack is text by which a journal, a folder or another process may try to control a terminal.
const attack = "\x1b]0;title\x07\x1b]52;c;QQ==\x1b\\\u009b2J\u202egnp\u2066\u2028\x7f\r\nnext"

// foreignLab puts the attack into every text that a lab reports.
func foreignLab(steps int) *fakeLab {
	f := newFake()
	f.emit(event.TypeStart, event.Start{Task: attack, Method: attack, Scale: attack, Device: attack, Obs: event.StartObs{Host: attack, Version: attack}})
	f.advance(steps)
	f.emit(event.TypeNote, event.Noted{Text: attack, Obs: event.KnobObs{By: attack}})
	f.emit(event.TypeKnob, event.KnobChanged{ID: 1, Knob: "guidance", From: knob.Choice(attack), To: knob.Choice(attack), Hint: attack, Obs: event.KnobObs{By: attack}})
	f.emit(event.TypeKnob, event.KnobChanged{ID: 2, Knob: attack, To: knob.Choice(attack)})
	f.emit(event.TypeRefused, event.Refused{Knob: attack, Value: attack, Reason: attack, By: attack})
	f.emit(event.TypeDevice, event.Device{Text: attack})
	f.emit(event.TypePause, event.Paused{Reason: attack, By: attack})
	f.emit(event.TypeCheckpoint, event.Checkpointed{Obs: event.CheckpointObs{Path: attack, By: attack, Error: attack}})
	f.emit(event.TypeAttached, event.View{By: attack, Reason: attack})
	f.emit(event.TypeScores, event.Scores{Relevance: attack})
	f.emit(event.TypeFailed, event.Failed{Error: attack})
	f.snapshot.Err, f.snapshot.Dir, f.snapshot.Task, f.snapshot.Method = attack, attack, attack, attack
	return f
}

// Whatever a run reports and whatever its folder is called, a frame contains only lines, colours
// and visible characters, and is exactly as large as the screen.
func TestFramesHoldNothingForeign(t *testing.T) {
	for _, size := range []struct{ w, h int }{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		s := newScreen(t, size.w, size.h, func(o *Options) {
			o.Renderer = lipgloss.NewRenderer(io.Discard)
			o.Renderer.SetColorProfile(termenv.TrueColor)
			o.Folder, o.Device, o.Config.Preset = "runs/"+attack, attack, attack
			o.Names = []string{attack, attack}
			o.References = []pane.Reference{{Source: attack, Mean: 1}}
		})
		s.check(t, size.w, size.h) // starting
		s.fake = foreignLab(12_000)
		s.Update(started{lab: s.fake})
		seen := false
		for _, keys := range [][]string{nil, {"tab"}, {"tab"}, {"tab"}, {"tab"}, {"+"}, {"esc"}, {"?"}, {"esc"}, {"q"}, {"esc"}, {"e"}, {"esc"}, {"i"}, {"esc"}, {"r"}, {"esc"}, {":"}} {
			s.press(keys...)
			seen = s.check(t, size.w, size.h) || seen
		}
		if !seen {
			t.Errorf("%dx%d: nothing of it was ever quoted: this proves nothing", size.w, size.h)
		}
	}
}

// check looks at a frame; quoted says whether the frame quotes the attack.
func (s *screen) check(t *testing.T, w, h int) (quoted bool) {
	t.Helper()
	frame := s.View()
	exact(t, "foreign", frame, w, h)
	for sequence := range strings.SplitSeq(frame, "\x1b") {
		if rest, is := strings.CutPrefix(sequence, "["); is && sequence != frame {
			if end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > ';' }); end < 0 || rest[end] != 'm' {
				t.Fatalf("%dx%d: %.20q is no colour", w, h, sequence)
			}
		}
	}
	for _, r := range ansi.Strip(frame) {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			t.Fatalf("%dx%d: the frame holds %U:\n%q", w, h, r, frame)
		}
	}
	return strings.Contains(frame, "?]0;")
}
