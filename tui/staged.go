package tui

import (
	"fmt"
	"pgrlab/core/knob"
	"strings"
)

// stagedEffect says what enter will do.
func (m *steering) stagedEffect() string {
	class := m.stagedClass()
	text := m.stagedText() + ": "
	switch cost, known := m.cost(class); {
	case class == knob.ClassBatch:
		return text + "from the next update"
	case !m.generated():
		return text + strings.Replace(m.atNextRefit(), "next", "first", 1)
	case known && cost < patience:
		return text + "now, " + lasting(cost)
	case known:
		return text + "at the next refit, or now in about " + duration(cost)
	default:
		return text + "at the next refit, or now"
	}
}

// stagedText names the staged changes.
func (m *steering) stagedText() string {
	var parts []string
	for _, k := range m.knobList {
		if v, ok := m.staged[k.Name]; ok {
			parts = append(parts, fmt.Sprintf("%s %s %s %s", symbol(k), readable(m.effective(k.Name)), m.theme.glyphs.arrow, readable(v)))
		}
	}
	return strings.Join(parts, ", ")
}

// stagedClass is the most expensive class among the staged changes.
func (m *steering) stagedClass() knob.Class {
	class := knob.ClassBatch
	for _, k := range m.knobList {
		if _, ok := m.staged[k.Name]; ok {
			class = max(class, k.Class)
		}
	}
	return class
}

// wanted is the staged value of a knob, or the effective one.
func (m *steering) wanted(name string) knob.Value {
	if v, ok := m.staged[name]; ok {
		return v
	}
	return m.effective(name)
}

// usable says, under the knobs, why a knob cannot be changed.
func (m *steering) usable(k knob.Knob) bool {
	if m.about.Replay {
		m.refuse(ErrReplay.Error())
		return false
	}
	if err := m.knobUse(k); err != nil {
		m.refuse(err.Error())
		return false
	}
	if m.ended() {
		m.refuse("the run has ended")
		return false
	}
	return true
}

// stage remembers a value to send; the effective one is nothing to send.
func (m *steering) stage(k knob.Knob, v knob.Value) {
	if v == m.effective(k.Name) {
		delete(m.staged, k.Name)
	} else {
		m.staged[k.Name] = v
	}
	m.say("")
	m.askPreview(k, v)
}
