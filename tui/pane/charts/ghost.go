package charts

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/chart"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
)

// shade is which ghost stands behind the returns.
type shade int

// The ghosts.
const (
	shadeRuns shade = iota
	shadeFan
	shadePaper
	shadeOff
	shadeCount
)

// shades are the names of the ghosts, in the order in which the key cycles through them.
var shades = [shadeCount]string{"runs", "fan", "paper", "off"}

// The least size of a chart with the lines of a ghost: a smaller one has its level on the axis.
const (
	ghostWidth  = 76
	ghostHeight = 8
)

// OthersRead delivers what other runs of the same settings returned.
type OthersRead []history.Past

// LookForOthers reads once what other runs of the same settings returned, outside the event loop.
func (m *Charts) LookForOthers() tea.Cmd {
	read := m.About.Alike
	if read == nil {
		return nil
	}
	return func() tea.Msg { return OthersRead(read()) }
}

// TakeOthers takes over what was read.
func (m *Charts) TakeOthers(others OthersRead) {
	m.alike = history.NewGhost(others)
	m.redrawCharts()
}

// spooks says whether other runs stand behind the returns; seeds of a cohort show their own spread.
func (m *Charts) spooks() bool {
	return m.shade == shadeRuns && m.alike != nil && len(m.alike.Runs) > 0 && m.Axis == AxisSteps && len(m.Others) == 0 && m.History.Members() <= 1
}

// ghost is what stands behind the returns on a chart of w by h.
func (m *Charts) ghost(w, h int) (g chart.Ghost) {
	switch {
	case m.shade == shadeFan && m.Fan == nil && m.Newest != nil && m.Axis == AxisSteps:
		a := arm(m.Newest.Without, history.CurveReturn)
		g = chart.Ghost{Low: a.Low, Mid: a.Mid, High: a.High}
	case m.spooks():
		g = m.curvesOf(m.alike)
	}
	if m.Projected { // its edges would be an area
		g.Low, g.High = nil, nil
	}
	if w >= ghostWidth && h >= ghostHeight {
		return g
	}
	mark, lo, hi := g.Mid, 0.0, 0.0
	if len(mark) == 0 && len(g.Lines) == 1 {
		mark = g.Lines[0]
	}
	g = chart.Ghost{}
	if lo, hi = m.Span(); m.CursorOn {
		hi = m.placeStep(m.Cursor)
	}
	for i := range mark {
		if mark[i].X >= lo && mark[i].X <= hi {
			g.Mark = &mark[i].Y
		}
	}
	return g
}

// curvesOf are the quantiles of other runs, or their lines if they are too few.
func (m *Charts) curvesOf(of *history.Ghost) (g chart.Ghost) {
	if len(of.Runs) < history.GhostFrom {
		for _, p := range of.Runs {
			var line []chart.Point
			for _, step := range of.Steps() {
				if y, ok := of.Value(p, step); ok {
					line = append(line, chart.Point{X: m.placeStep(step), Y: y})
				}
			}
			g.Lines = append(g.Lines, line)
		}
		return g
	}
	for _, step := range of.Steps() {
		if b, ok := of.At(step); ok {
			x := m.placeStep(step)
			g.Low, g.Mid, g.High = append(g.Low, chart.Point{X: x, Y: b.Low}), append(g.Mid, chart.Point{X: x, Y: b.Median}), append(g.High, chart.Point{X: x, Y: b.High})
		}
	}
	return g
}

// beyond is the published result at the right edge: the most comparable one that lies further on.
func (m *Charts) beyond() *chart.Beyond {
	if m.shade != shadePaper || m.Axis != AxisSteps {
		return nil
	}
	for _, r := range m.About.References {
		if _, hi := m.Span(); !r.Apart() && r.At() > hi {
			mean, _ := format.SpreadOf(r.Mean, r.Std)
			return &chart.Beyond{Reference: chart.Reference{X: r.At(), Low: r.Mean - r.Std, Mid: r.Mean, High: r.Mean + r.Std}, Label: mean + " " + when(r)}
		}
	}
	return nil
}

// ghostNotes say what the ghost is at a step, for the border of the chart, the longest first.
func (m *Charts) ghostNotes(step int) []string {
	if !m.spooks() {
		return nil
	}
	t := m.Theme
	b, ok := m.alike.At(step)
	if !ok {
		n, values := len(m.alike.Runs), m.alike.Values(step)
		if n >= history.GhostFrom || len(values) == 0 {
			return nil
		}
		var all []string
		for _, y := range values {
			all = append(all, format.Number(y))
		}
		return []string{"  " + t.Dim.On(fmt.Sprintf("ghost %s: ", runsOf(len(values)))) + strings.Join(all, ", ")}
	}
	value := fmt.Sprintf("%s [%s, %s]", format.Number(b.Median), format.Number(b.Low), format.Number(b.High))
	return []string{
		"  " + t.Dim.On(fmt.Sprintf("ghost %s of these settings: ", runsOf(b.N))) + value + t.Dim.On(" here"),
		"  " + t.Dim.On(fmt.Sprintf("ghost %s: ", runsOf(b.N))) + value,
	}
}

func runsOf(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// GhostSaid says where a return lies among those of other runs at its step; "": there is nothing to say.
func (m *Charts) GhostSaid(e history.Evaluation) string {
	if !m.spooks() {
		return ""
	}
	b, ok := m.alike.At(e.Step)
	if !ok {
		return ""
	}
	where := "inside"
	switch {
	case e.Mean < b.Low:
		where = "below"
	case e.Mean > b.High:
		where = "above"
	}
	return fmt.Sprintf("%s the ghost: higher than %d of %d other runs of these settings here", where, b.Under(e.Mean), b.N)
}

// nextShade shows the next ghost behind the returns of which there is one, or none.
func (m *Charts) nextShade() tea.Cmd {
	for m.shade = (m.shade + 1) % shadeCount; m.shade != shadeOff; m.shade = (m.shade + 1) % shadeCount {
		if _, is := m.shadeSaid(); is {
			break
		}
	}
	m.showShade()
	return nil
}

func (m *Charts) showShade() {
	text, _ := m.shadeSaid()
	m.Tell(text)
	m.redrawCharts()
}

// commandGhost shows a ghost by its name.
func (m *Charts) commandGhost(text string) error {
	for i, name := range shades {
		if name == text {
			m.shade = shade(i)
			m.showShade()
			return nil
		}
	}
	return fmt.Errorf("ghost: want one of %s", strings.Join(shades[:], ", "))
}

// shadeSaid says what the ghost is, or why there is none.
func (m *Charts) shadeSaid() (text string, is bool) {
	switch m.shade {
	case shadeRuns:
		switch {
		case m.alike == nil || len(m.alike.Runs) == 0:
			return "ghost runs: there is no other run of just these settings that was left as it began", false
		case m.History.Members() > 1:
			return "ghost runs: not drawn for several seeds, whose own spread is shown", false
		case len(m.alike.Runs) < history.GhostFrom:
			return fmt.Sprintf("ghost runs: %s of just these settings; quantiles from %d on", runsOf(len(m.alike.Runs)), history.GhostFrom), true
		}
		return fmt.Sprintf("ghost runs: median and quantiles .1 and .9 of %s of just these settings", runsOf(len(m.alike.Runs))), true
	case shadeFan:
		if m.Newest == nil {
			return "ghost fan: there are no forks yet: f makes some", false
		}
		return "ghost fan: mean and deviation of the newest forks without the change", true
	case shadePaper:
		if !slices.ContainsFunc(m.About.References, func(r pane.Reference) bool { return !r.Apart() }) {
			return "ghost paper: no result of this scale is published for this task and method: another scale is no ghost", false
		}
		return "ghost paper: the published result, at its step or at the right edge", true
	default:
		return "no ghost", true
	}
}
