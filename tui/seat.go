package tui

import tea "github.com/charmbracelet/bubbletea"

// Seat is a screen's place among several screens of one run, of which one drives:
// only what it sends is carried out.
type Seat interface {
	// Driver is who drives instead of this screen; "": this one does.
	Driver() string
	// Take makes this screen the one that drives.
	Take()
}

// seated looks who drives.
func (m *Model) seated() {
	if m.options.Seat == nil {
		return
	}
	if driver := m.options.Seat.Driver(); driver != m.driver {
		m.driver = driver
		m.changed()
	}
}

// watching says whether another screen drives.
func (m *Model) watching() bool {
	m.seated()
	return m.driver != ""
}

// takeSeat takes over from the screen that drives.
func (m *Model) takeSeat() tea.Cmd {
	if !m.watching() {
		m.tell("this screen drives")
		return nil
	}
	from := m.driver
	m.options.Seat.Take()
	m.seated()
	m.tell("you drive now; " + from + " watches")
	return nil
}

// watchingLine is the footer of a screen that does not drive.
func (m *Model) watchingLine(w int) string {
	t := m.theme
	hint := func(key, does string) string { return t.key.on(key) + " " + t.dim.on(does) }
	start := t.warn.on("watching: ") + m.driver + t.dim.on(" drives")
	return t.spread(start, join(w-width(start)-2, "  ", hint("D", "take over"), hint("?", "help"), hint("q", "leave")), w)
}
