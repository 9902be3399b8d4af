package tui

import (
	"fmt"
	"strconv"
	"strings"

	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
)

// commandPane goes to a pane by its name or its tab's text; a quantity that no chart shows goes
// into the first chart.
func (m *Model) commandPane(text string) error {
	for _, name := range []func(pane.Pane) string{pane.Pane.Tab, func(p pane.Pane) string { return string(p.ID()) }} {
		for _, p := range m.tabs() {
			if strings.EqualFold(name(p), text) {
				m.GoTo(p.ID())
				return nil
			}
		}
	}
	if _, ok := charts.QuantityIndex(text); ok {
		m.GoTo(pane.Chart1)
		return m.charts.CommandShow(text)
	}
	return fmt.Errorf("pane: want one of %s", strings.Join(m.tabNames(), ", "))
}

// tabNames are the names of the panes on their tabs.
func (m *Model) tabNames() []string {
	var out []string
	for _, p := range m.tabs() {
		out = append(out, p.Tab())
	}
	return out
}

func (m *Model) commandLayout(text string) error {
	for v := range viewCount {
		if v.String() == text {
			m.setView(v)
			return nil
		}
	}
	return fmt.Errorf("layout: want one of %s", strings.Join(viewNames[:], ", "))
}

func (m *Model) commandTheme(text string) error {
	s := m.settings
	s.Theme = text
	if err := s.validate(); err != nil {
		return err
	}
	m.settings = s
	m.retheme()
	return nil
}

func (m *Model) commandRefresh(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("refresh: %q is no number", text)
	}
	s := m.settings
	s.Refresh = v
	if err := s.validate(); err != nil {
		return err
	}
	m.settings = s
	return nil
}

func (m *Model) commandSaveSettings(string) error {
	if m.options.Home == "" {
		return fmt.Errorf("save settings: there is no folder for them")
	}
	s, err := LoadSettings(m.options.Home) // the file may have changed since the screen opened
	if err == nil {
		s.Theme, s.Refresh = m.settings.Theme, m.settings.Refresh
		s.Layout, s.Axis, s.Charts, s.Mouse = m.view.String(), m.charts.Axis.String(), m.charts.Style, m.mouse
		err = SaveSettings(m.options.Home, s)
	}
	if err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	m.Tell("saved in " + m.options.Home)
	return nil
}
