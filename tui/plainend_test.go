package tui

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
)

// endsBetween is a run that ends after its news were read and before its state is.
type endsBetween struct {
	*fakeLab
	reads int
}

func (l *endsBetween) Events(next int) []event.Event {
	news := l.fakeLab.Events(next)
	if l.reads++; l.reads == 3 {
		l.advance(l.steps)
	}
	return news
}

// The lines of a run's end are written however its end falls between two looks at it.
func TestPlainWritesTheLastLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab, out := &endsBetween{fakeLab: newFake()}, &bytes.Buffer{}
		p := newPlain(Options{About: pane.About{Config: fakeConfig()}, Start: func() (pane.Lab, error) { return lab, nil }}, strings.NewReader(""), out)
		if outcome, err := p.talk(t.Context(), &unread{t.Context()}); outcome != Detached || err != nil {
			t.Errorf("%v, %v", outcome, err)
		}
		if !strings.Contains(out.String(), "done ") {
			t.Errorf("the end is missing:\n%s", out)
		}
	})
}
