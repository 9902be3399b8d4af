package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
)

// mapEvery is the least time between two questions for the map: each costs the training
// some milliseconds.
const mapEvery = 5 * time.Second

// mapKind is what a map shows.
type mapKind int

// The kinds, in the order of the key.
const (
	mapReal mapKind = iota
	mapSyn
	mapDifference
	mapF
	mapKinds
)

var mapTitles = [mapKinds]string{"D_real", "D_syn", "D_syn less D_real", "mean F"}

// plane is which dimensions of the observation the map shows, and how.
type plane struct {
	x, y  int
	kind  mapKind
	asked time.Time // when the map was asked for
	step  int       // at which
}

// mapPane is where D_real and D_syn lie, over two dimensions of the observation.
type mapPane struct {
	*runView
	plane plane
}

func newMap(r *runView) *mapPane { return &mapPane{runView: r, plane: plane{y: 1}} }

// ID names the pane.
func (m *mapPane) ID() paneID { return paneMap }

// Tab is its name on the tab bar.
func (m *mapPane) Tab() string { return string(paneMap) }

// Title is what its border says.
func (m *mapPane) Title(w int) (title, note string) { return "MAP", m.note(w - 10) }

// Keys work while it is in focus.
func (m *mapPane) Keys() []binding {
	return []binding{
		{name: "map-x-next", keys: []string{"right", "l"}, label: "right l", hint: "left right", does: "x dimension", help: "the next dimension of the observation along x", action: m.xNext},
		{name: "map-x-previous", keys: []string{"left", "h"}, label: "left h", help: "the dimension before", action: m.xPrevious},
		{name: "map-y-next", keys: []string{"up", "k"}, label: "up k", hint: "up down", does: "y dimension", help: "the next dimension along y", action: m.yNext},
		{name: "map-y-previous", keys: []string{"down", "j"}, label: "down j", help: "the dimension before", action: m.yPrevious},
		{name: "map-kind", keys: []string{"m", "enter"}, label: "m enter", hint: "m", does: "next map", help: "what the map shows first: D_real, D_syn, their difference, mean F", action: m.nextKind},
	}
}

// Verbs are its commands.
func (m *mapPane) Verbs() []verb {
	return []verb{{"map", "go to the map; with one or two dimensions of the observation: map speed x, pitch", func() []string { return m.about.Names }, m.command}}
}

// DependsOn are the topics that it shows.
func (m *mapPane) DependsOn() []topic { return []topic{topicSnapshot} }

// Body is where D_real and D_syn lie, over two dimensions of the observation.
func (m *mapPane) Body(w, h int) []string {
	t, p := m.theme, m.plane
	switch {
	case m.about.Replay:
		return m.waiting("a journal does not keep where transitions lie", w, h)
	case len(m.about.Names) < 2:
		return m.waiting("the numbers of this observation have no names", w, h)
	case m.snap.Map == nil:
		return m.waiting("asking the run", w, h)
	case m.snap.Map.Unknown != "":
		return m.waiting(m.snap.Map.Unknown, w, h)
	}
	d := m.snap.Map
	axis := func(name string, i, dimension int) string {
		return t.dim.on(name+" ") + m.dimension(dimension) + t.dim.on(fmt.Sprintf(" %s..%s", number(d.Low[i]), number(d.High[i])))
	}
	x, y := axis("x", 0, d.X), axis("y", 1, d.Y)
	axes := longest([]string{t.dim.on("x ") + m.dimension(d.X) + t.dim.on("  y ") + m.dimension(d.Y), x + t.dim.on("  y ") + m.dimension(d.Y), x + "  " + y}, w)
	across, down := mapGrid(w, h)
	each, rows := (w-2*(across-1))/across, mapRows(h, down)
	if rows < 1 {
		return []string{t.fit(axes, w)}
	}
	var out []string
	for row := range down {
		lines := make([]string, rows+1)
		for column := range across {
			kind := (p.kind + mapKind(row*across+column)) % mapKinds
			picture := append([]string{m.title(d, kind, each)}, m.picture(d, kind, each, rows)...)
			for y := range lines {
				if column > 0 {
					lines[y] += "  "
				}
				lines[y] += t.fit(picture[y], each)
			}
		}
		out = append(out, lines...)
	}
	return append(out, t.fit(axes, w))
}

// mapRows are the rows of each of so many maps above each other in h rows, below their
// titles: at most a row a cell, so that no row stands there twice.
func mapRows(h, down int) int { return min((h-1)/down-1, event.MapRows) }

// mapGrid is how many maps stand beside and above each other in w by h: as many as
// can be read, and of equally many the arrangement in which they are largest.
func mapGrid(w, h int) (across, down int) {
	best, largest := 0, 0
	for _, g := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {3, 1}, {4, 1}, {2, 2}} {
		each, rows := (w-2*(g[0]-1))/g[0], mapRows(h, g[1])
		n, size := g[0]*g[1], min(each, 2*event.MapColumns)*rows
		if n > 1 && (each < 30 || rows < 8) || n < best || n == best && size <= largest {
			continue
		}
		across, down, best, largest = g[0], g[1], n, size
	}
	return across, down
}

func (m *mapPane) dimension(i int) string {
	if i < len(m.about.Names) {
		return m.about.Names[i]
	}
	return fmt.Sprint(i)
}

// mapTitle names a map and what its signs mean.
func (m *mapPane) title(d *event.Mapped, kind mapKind, w int) string {
	t := m.theme
	name := mapTitles[kind]
	legend := fmt.Sprintf("%s rows looked at", count(d.RealN))
	switch kind {
	case mapSyn:
		legend = fmt.Sprintf("%s rows looked at", count(d.SynN))
	case mapDifference:
		legend = "s synthetic  r real"
	case mapF:
		legend = "no F"
		if d.Relevance != "" {
			legend = fmt.Sprintf("%s %s..%s", d.Relevance, number(d.FLow), number(d.FHigh))
		}
	}
	return longest([]string{t.title.on(name), t.title.on(name) + " " + t.dim.on(legend)}, w)
}

// shadesOf are the signs of a share, from none to the most.
func (m *mapPane) shadesOf() []string {
	if m.theme.set == ASCII {
		return []string{" ", ".", ":", "+", "#"}
	}
	return []string{" ", "░", "▒", "▓", "█"}
}

// picture draws a map w columns wide and h rows high, the largest y on top. A
// share is shown by its logarithm: rare places count.
func (m *mapPane) picture(d *event.Mapped, kind mapKind, w, h int) []string {
	w = min(w, 2*event.MapColumns)
	cells := make([]float64, w*h)
	scale := 0.0
	for y := range h {
		for x := range w {
			v := m.value(d, kind, x, w, y, h)
			cells[y*w+x] = v
			if kind != mapF && !math.IsNaN(v) {
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

// value is a map's value in the character (x, y) of w by h: a share of the rows a
// cell, a difference of shares, or a mean F; NaN where there is none.
func (m *mapPane) value(d *event.Mapped, kind mapKind, x, w, y, h int) float64 {
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
	cells := float64((x1 - x0) * (y1 - y0)) // characters cover one cell or several
	share := func(k, of int) float64 { return float64(k) / math.Max(1, float64(of)) / cells }
	switch kind {
	case mapReal:
		return share(realRows, d.RealN)
	case mapSyn:
		return share(syn, d.SynN)
	case mapDifference:
		return share(syn, d.SynN) - share(realRows, d.RealN)
	default:
		return f / float64(n) // 0/0 is NaN: nothing was scored here
	}
}

// sign is the sign of a value.
func (m *mapPane) sign(d *event.Mapped, kind mapKind, v, scale float64) string {
	t, shades := m.theme, m.shadesOf()
	grade := func(part float64) int { // 1 to 4
		return max(1, min(len(shades)-1, 1+int(part*float64(len(shades)-1))))
	}
	switch kind {
	case mapF:
		if math.IsNaN(v) || d.Relevance == "" {
			return " "
		}
		part := 0.0
		if d.FHigh > d.FLow {
			part = (v - d.FLow) / (d.FHigh - d.FLow)
		}
		return t.accent.on(shades[grade(part)])
	case mapDifference:
		sign, ink := "r", t.real
		if v > 0 {
			sign, ink = "s", t.synthetic
		}
		switch part := math.Abs(v) / scale; {
		case !(part > 0.05):
			return " "
		case part > 0.4:
			return ink.on(strings.ToUpper(sign))
		}
		return ink.on(sign)
	}
	if !(v > 0) {
		return " "
	}
	ink := t.real
	if kind == mapSyn {
		ink = t.synthetic
	}
	return ink.on(shades[grade(1+math.Log10(v/scale)/3)]) // three decades
}

func (m *mapPane) note(w int) string {
	if m.snap.Map == nil {
		return ""
	}
	return longest([]string{m.theme.dim.on("step " + count(m.snap.Map.Step))}, w)
}

// The keys of the map: which dimensions, and what first.
func (m *mapPane) xNext() tea.Cmd     { return m.turn(&m.plane.x, 1) }
func (m *mapPane) xPrevious() tea.Cmd { return m.turn(&m.plane.x, -1) }
func (m *mapPane) yNext() tea.Cmd     { return m.turn(&m.plane.y, 1) }
func (m *mapPane) yPrevious() tea.Cmd { return m.turn(&m.plane.y, -1) }

func (m *mapPane) turn(dimension *int, by int) tea.Cmd {
	n := len(m.about.Names)
	if n < 2 {
		return nil
	}
	*dimension = (*dimension + by + n) % n
	m.plane.asked = time.Time{}
	m.Poll(m.visible(paneMap))
	return nil
}

func (m *mapPane) nextKind() tea.Cmd {
	m.plane.kind = (m.plane.kind + 1) % mapKinds
	m.touchPane(paneMap)
	return nil
}

// command goes to the map and chooses its dimensions by their names: "speed x, pitch";
// without names it stays as it is and says how to choose.
func (m *mapPane) command(text string) error {
	if text == "" {
		m.goTo(paneMap)
		m.Poll(m.visible(paneMap))
		if len(m.about.Names) > 1 {
			m.tell(fmt.Sprintf("the map shows %s, %s; :map NAME, NAME shows others of %s", m.dimension(m.plane.x), m.dimension(m.plane.y), strings.Join(m.about.Names, ", ")))
		}
		return nil
	}
	first, second, two := strings.Cut(text, ",")
	x, err := m.findDimension(first)
	if err != nil {
		return err
	}
	y := m.plane.y
	if two {
		if y, err = m.findDimension(second); err != nil {
			return err
		}
	}
	m.plane.x, m.plane.y, m.plane.asked = x, y, time.Time{}
	m.goTo(paneMap)
	m.Poll(m.visible(paneMap))
	return nil
}

func (m *mapPane) findDimension(name string) (int, error) {
	for i, n := range m.about.Names {
		if strings.EqualFold(n, strings.TrimSpace(name)) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("map: there is no dimension %q: want one of %s", strings.TrimSpace(name), strings.Join(m.about.Names, ", "))
}

// Poll asks the run for a new map while the pane is shown. A run that stands still is
// asked once.
func (m *mapPane) Poll(visible bool) {
	if !visible || !m.answers() || len(m.about.Names) < 2 {
		return
	}
	now, step := m.now(), m.snap.Step
	p := &m.plane
	if now.Sub(p.asked) < mapEvery && !p.asked.IsZero() || p.step == step && !p.asked.IsZero() {
		return
	}
	if m.lab.Send(event.Map{X: p.x, Y: p.y}) == nil { // a busy lab is asked at the next look
		p.asked, p.step = now, step
	}
}
