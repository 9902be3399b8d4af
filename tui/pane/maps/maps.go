// Package maps shows where real and synthetic transitions lie, over two dimensions of the
// observation. For a run that learns from frames, whose rows are latents, it shows synthetic rows
// beside the real frames nearest to them.
package maps

import (
	"fmt"
	"math"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
	"pgrlab/tui/topic"
)

// Every is the shortest time between two requests for the map: each costs the training some
// milliseconds.
const Every = 5 * time.Second

// Kind is what a map shows.
type Kind int

// The kinds, in the order in which the key cycles through them.
const (
	Real Kind = iota
	Syn
	Difference
	MeanF
	Kinds
)

var titles = [Kinds]string{"D_real", "D_syn", "D_syn less D_real", "mean F"}

// plane says which dimensions of the observation the map shows, and how.
type plane struct {
	X, Y  int
	kind  Kind
	asked time.Time // when the map was last asked for
	step  int       // the step at that time
	made  int       // the number of generations at that time
}

// Pane is the map of D_real and D_syn over two dimensions of the observation.
type Pane struct {
	*pane.Run
	Plane  plane
	dreams dreams
}

// New makes the pane of a run.
func New(r *pane.Run) *Pane { return &Pane{Run: r, Plane: plane{Y: 1}} }

// ID names the pane.
func (m *Pane) ID() pane.ID { return pane.Map }

// Tab is the name of the pane on the tab bar.
func (m *Pane) Tab() string {
	if m.dreaming() {
		return "dreams"
	}
	return string(pane.Map)
}

// Title is the text in the border of the pane.
func (m *Pane) Title(w int) (title, note string) {
	if m.dreaming() {
		return "DREAMS", m.dreamsNote(w - 13)
	}
	return "MAP", m.note(w - 10)
}

// Keys are those that work while the pane is in focus.
func (m *Pane) Keys() []pane.Binding {
	return []pane.Binding{
		{Name: "map-x-next", Of: pane.OfStates, Keys: []string{"right", "l"}, Label: "right l", Hint: "left right", Does: "x dimension", Help: "the next dimension of the observation along x", Action: m.xNext},
		{Name: "map-x-previous", Keys: []string{"left", "h"}, Label: "left h", Help: "the dimension before", Action: m.xPrevious},
		{Name: "map-y-next", Of: pane.OfStates, Keys: []string{"up", "k"}, Label: "up k", Hint: "up down", Does: "y dimension", Help: "the next dimension along y", Action: m.yNext},
		{Name: "map-y-previous", Keys: []string{"down", "j"}, Label: "down j", Help: "the dimension before", Action: m.yPrevious},
		{Name: "map-kind", Of: pane.OfStates, Keys: []string{"m", "enter"}, Label: "m enter", Hint: "m", Does: "next map", Help: "what the map shows first: D_real, D_syn, their difference, mean F", Action: m.nextKind},
	}
}

// Verbs are the commands of the pane.
func (m *Pane) Verbs() []pane.Verb {
	return []pane.Verb{
		{Name: "map", About: "go to the map; with one or two dimensions of the observation: map speed x, pitch", Arguments: func() []string { return m.About.Names }, Run: m.command},
	}
}

// DependsOn are the topics that the pane shows.
func (m *Pane) DependsOn() []topic.Topic { return []topic.Topic{topic.Snapshot} }

// asking says why the run has not answered yet, or why it will not.
func (m *Pane) asking() string {
	if m.Ended() {
		return "the run has ended: this is seen while it goes on"
	}
	return "asking the run"
}

// Body is the map of D_real and D_syn over two dimensions of the observation.
func (m *Pane) Body(w, h int) []string {
	t, p := m.Theme, m.Plane
	switch {
	case m.dreaming():
		return m.dreamsBody(w, h)
	case m.About.Replay && m.Snap.Map == nil:
		return m.Waiting("a journal does not keep where transitions lie: this is seen while a run goes on, and in replays of runs with --scenes", w, h)
	case len(m.About.Names) < 2:
		return m.Waiting("the numbers of this observation have no names", w, h)
	case m.Snap.Map == nil:
		return m.Waiting(m.asking(), w, h)
	case m.Snap.Map.Unknown != "":
		return m.Waiting(m.Snap.Map.Unknown, w, h)
	}
	d := m.Snap.Map
	axis := func(name string, i, dimension int) string {
		return t.Dim.On(name+" ") + m.dimension(dimension) + t.Dim.On(fmt.Sprintf(" %s..%s", format.Number(d.Low[i]), format.Number(d.High[i])))
	}
	x, y := axis("x", 0, d.X), axis("y", 1, d.Y)
	axes := theme.Longest([]string{t.Dim.On("x ") + m.dimension(d.X) + t.Dim.On("  y ") + m.dimension(d.Y), x + t.Dim.On("  y ") + m.dimension(d.Y), x + "  " + y}, w)
	across, down := grid(w, h)
	each, rows := (w-2*(across-1))/across, rowsOf(h, down)
	if rows < 1 {
		return []string{t.Fit(axes, w)}
	}
	var out []string
	for row := range down {
		lines := make([]string, rows+1)
		for column := range across {
			kind := (p.kind + Kind(row*across+column)) % Kinds
			picture := append([]string{m.title(d, kind, each)}, m.Picture(d, kind, each, rows)...)
			for y := range lines {
				if column > 0 {
					lines[y] += "  "
				}
				lines[y] += t.Fit(picture[y], each)
			}
		}
		out = append(out, lines...)
	}
	return append(out, t.Fit(axes, w))
}

// rowsOf is the number of rows of each map when down maps stand one below the other in h rows, each
// below its title: at most one row a cell, so that no row of cells is drawn twice.
func rowsOf(h, down int) int { return min((h-1)/down-1, event.MapRows) }

// grid is how many maps stand side by side and one below the other in w by h: as many as can be
// read, in the arrangement with the largest maps.
func grid(w, h int) (across, down int) {
	best, largest := 0, 0
	for _, g := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {3, 1}, {4, 1}, {2, 2}} {
		each, rows := (w-2*(g[0]-1))/g[0], rowsOf(h, g[1])
		n, size := g[0]*g[1], min(each, 2*event.MapColumns)*rows
		if n > 1 && (each < 30 || rows < 8) || n < best || n == best && size <= largest {
			continue
		}
		across, down, best, largest = g[0], g[1], n, size
	}
	return across, down
}

func (m *Pane) dimension(i int) string {
	if i < len(m.About.Names) {
		return m.About.Names[i]
	}
	return fmt.Sprint(i)
}

// title names a map and explains its signs.
func (m *Pane) title(d *event.Mapped, kind Kind, w int) string {
	t, name := m.Theme, titles[kind]
	looked := func(rows int) string { return format.Count(rows) + " rows looked at" }
	legend := looked(d.RealN)
	switch {
	case kind == Syn && d.Mixed > 0:
		legend = looked(d.SynN) + ", " + format.Percent(d.Mixed) + " of D_syn new"
	case kind == Syn:
		legend = looked(d.SynN)
	case kind == Difference:
		legend = "s synthetic  r real"
	case kind == MeanF:
		legend = "no F"
		if d.Relevance != "" {
			legend = fmt.Sprintf("%s %s..%s", d.Relevance, format.Number(d.FLow), format.Number(d.FHigh))
		}
	}
	return theme.Longest([]string{t.Title.On(name), t.Title.On(name) + " " + t.Dim.On(legend)}, w)
}

// shadesOf are the signs for a share, from none to the most.
func (m *Pane) shadesOf() []string {
	if m.Theme.Set == theme.ASCII {
		return []string{" ", ".", ":", "+", "#"}
	}
	return []string{" ", "░", "▒", "▓", "█"}
}

// Picture draws a map w columns wide and h rows high, the largest y on top. A share is shown by its
// logarithm, so that rare places count.
func (m *Pane) Picture(d *event.Mapped, kind Kind, w, h int) []string {
	w = min(w, 2*event.MapColumns)
	cells := make([]float64, w*h)
	scale := 0.0
	for y := range h {
		for x := range w {
			v := m.value(d, kind, x, w, y, h)
			cells[y*w+x] = v
			if kind != MeanF && !math.IsNaN(v) {
				scale = math.Max(scale, math.Abs(v))
			}
		}
	}
	out := make([]string, h)
	for y := range h {
		var b strings.Builder
		for x := range w {
			b.WriteString(m.sign(d, kind, cells[y*w+x], scale))
		}
		out[h-1-y] = b.String()
	}
	return out
}

// value is a map's value in the character (x, y) of w by h: a share of the rows per cell, a
// difference of shares, or a mean F; NaN if there is none.
func (m *Pane) value(d *event.Mapped, kind Kind, x, w, y, h int) float64 {
	x0, x1 := x*event.MapColumns/w, max(x*event.MapColumns/w+1, (x+1)*event.MapColumns/w)
	y0, y1 := y*event.MapRows/h, max(y*event.MapRows/h+1, (y+1)*event.MapRows/h)
	realRows, syn, f, n := 0, 0, 0.0, 0
	for j := y0; j < y1; j++ {
		for i := x0; i < x1; i++ {
			c := j*event.MapColumns + i
			realRows += d.Real[c]
			syn += d.Syn[c]
			if v := d.F[c]; !math.IsNaN(v) {
				f += v
				n++
			}
		}
	}
	cells := float64((x1 - x0) * (y1 - y0)) // a character covers one cell or several
	share := func(k, of int) float64 { return float64(k) / math.Max(1, float64(of)) / cells }
	switch kind {
	case Real:
		return share(realRows, d.RealN)
	case Syn:
		return share(syn, d.SynN)
	case Difference:
		return share(syn, d.SynN) - share(realRows, d.RealN)
	default:
		return f / float64(n) // 0/0 is NaN: nothing was scored here
	}
}

// sign is the sign for a value.
func (m *Pane) sign(d *event.Mapped, kind Kind, v, scale float64) string {
	t, shades := m.Theme, m.shadesOf()
	grade := func(part float64) int { // 1 to 4
		return max(1, min(len(shades)-1, 1+int(part*float64(len(shades)-1))))
	}
	switch kind {
	case MeanF:
		if math.IsNaN(v) || d.Relevance == "" {
			return " "
		}
		part := 0.0
		if d.FHigh > d.FLow {
			part = (v - d.FLow) / (d.FHigh - d.FLow)
		}
		return t.Accent.On(shades[grade(part)])
	case Difference:
		sign, ink := "r", t.Real
		if v > 0 {
			sign, ink = "s", t.Synthetic
		}
		switch part := math.Abs(v) / scale; {
		case !(part > 0.05):
			return " "
		case part > 0.4:
			return ink.On(strings.ToUpper(sign))
		}
		return ink.On(sign)
	}
	if !(v > 0) {
		return " "
	}
	ink := t.Real
	if kind == Syn {
		ink = t.Synthetic
	}
	return ink.On(shades[grade(1+math.Log10(v/scale)/3)]) // three decades
}

func (m *Pane) note(w int) string {
	if m.Snap.Map == nil {
		return ""
	}
	return theme.Longest([]string{m.Theme.Dim.On("step " + format.Count(m.Snap.Map.Step))}, w)
}

// The keys of the map: which dimensions, and which map comes first.
func (m *Pane) xNext() tea.Cmd     { return m.turn(&m.Plane.X, 1) }
func (m *Pane) xPrevious() tea.Cmd { return m.turn(&m.Plane.X, -1) }
func (m *Pane) yNext() tea.Cmd     { return m.turn(&m.Plane.Y, 1) }
func (m *Pane) yPrevious() tea.Cmd { return m.turn(&m.Plane.Y, -1) }

func (m *Pane) turn(dimension *int, by int) tea.Cmd {
	n := len(m.About.Names)
	if n < 2 || m.dreaming() {
		return nil
	}
	*dimension = (*dimension + by + n) % n
	m.Plane.asked = time.Time{}
	m.Poll(m.Visible(pane.Map))
	return nil
}

func (m *Pane) nextKind() tea.Cmd {
	m.Plane.kind = (m.Plane.kind + 1) % Kinds
	m.TouchPane(pane.Map)
	return nil
}

// command goes to the map and chooses its dimensions by name: "speed x, pitch". Without names it
// leaves them unchanged and says how to choose.
func (m *Pane) command(text string) error {
	if m.dreaming() {
		if text != "" {
			return fmt.Errorf("map: rows of this run are latents, which have no dimensions with names: dreams shows them")
		}
		m.GoTo(pane.Map)
		return nil
	}
	if text == "" {
		m.GoTo(pane.Map)
		m.Poll(m.Visible(pane.Map))
		if len(m.About.Names) > 1 {
			m.Tell(fmt.Sprintf("the map shows %s, %s; :map NAME, NAME shows others of %s", m.dimension(m.Plane.X), m.dimension(m.Plane.Y), strings.Join(m.About.Names, ", ")))
		}
		return nil
	}
	first, second, two := strings.Cut(text, ",")
	x, err := m.findDimension(first)
	if err != nil {
		return err
	}
	y := m.Plane.Y
	switch {
	case x == m.Plane.Y && x != m.Plane.X: // the two change places
		y = m.Plane.X
	case x == y:
		y = (y + 1) % len(m.About.Names)
	}
	if two {
		if y, err = m.findDimension(second); err != nil {
			return err
		}
	}
	m.Plane.X, m.Plane.Y, m.Plane.asked = x, y, time.Time{}
	m.GoTo(pane.Map)
	m.Poll(m.Visible(pane.Map))
	return nil
}

func (m *Pane) findDimension(name string) (int, error) {
	for i, n := range m.About.Names {
		if strings.EqualFold(n, strings.TrimSpace(name)) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("map: there is no dimension %q: want one of %s", strings.TrimSpace(name), strings.Join(m.About.Names, ", "))
}

// Poll asks the run for a new map while the pane is shown. A run that stands still is asked once, and once more
// for what it generated meanwhile: in a run without an agent a step ends with that.
func (m *Pane) Poll(visible bool) {
	if visible && m.Answers() && m.dreaming() {
		m.pollDreams()
		return
	}
	if !visible || !m.Answers() || len(m.About.Names) < 2 {
		return
	}
	now, step, made := m.Now(), m.Snap.Step, len(m.History.Syntheses)
	p := &m.Plane
	if !p.asked.IsZero() && (now.Sub(p.asked) < Every || p.step == step && p.made == made) {
		return
	}
	if m.Lab.Send(event.Map{X: p.X, Y: p.Y}) == nil { // a busy lab is asked again at the next poll
		p.asked, p.step, p.made = now, step, made
	}
}
