package maps

import (
	"fmt"
	"math"
	"slices"
	"time"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
)

// dreamsEvery is the shortest time between two requests for dreams.
const dreamsEvery = 500 * time.Millisecond

// Sizes of a dream in pixels; a cell has two pixels, one above the other.
const (
	readableDream = 16 // from this side on, more dreams are better than larger ones
	leastDream    = 8  // below this side there are numbers only
	plenty        = 12 // from this number of dreams on, larger ones are better than more
	captions      = 2  // lines of text per dream
)

// dreams are synthetic rows in the latent space of frames, as last drawn.
type dreams struct {
	asked time.Time
	fit   int // number of dreams that fitted
	drawn *event.Dreamt
	on    picture.Canvas
	w, h  int
	lines []string
}

// dreaming says whether rows are latents, which have no dimensions to map.
func (m *Pane) dreaming() bool { return m.About.Config.Sees() }

// dreamsBody shows synthetic rows, each beside the real frames nearest to it.
func (m *Pane) dreamsBody(w, h int) []string {
	d := m.Snap.Dreamt
	switch {
	case !m.Generates():
		return m.Waiting(m.About.Config.Method+" learns from frames and generates no rows", w, h)
	case m.About.Replay:
		return m.Waiting("a journal holds no frames: dreams are seen while a run goes on", w, h)
	}
	g := dreamGridIn(w, h-1)
	m.dreams.fit = g.across * g.down
	switch {
	case d == nil:
		return m.Waiting(m.asking(), w, h)
	case d.Unknown != "":
		return m.Waiting(d.Unknown, w, h)
	}
	k, canvas := &m.dreams, m.Canvas()
	if k.drawn != d || k.on != canvas || k.w != w || k.h != h {
		k.drawn, k.on, k.w, k.h = d, canvas, w, h
		k.lines = append([]string{m.dreamsHead(d, w)}, m.dreamLines(d, g, w, h-1)...)
	}
	return k.lines
}

// dreamsHead says what is shown, and what to compare the distances with.
func (m *Pane) dreamsHead(d *event.Dreamt, w int) string {
	t := m.Theme
	by := "by " + d.Order
	switch d.Order {
	case event.DreamsByF:
		by = "by F, " + d.Relevance
	case event.DreamsByAsked:
		by = "by the F asked for, " + d.Relevance
	}
	near := "nearest real frame"
	of := fmt.Sprintf(" of %s", format.Count(d.Real))
	usual := ""
	if !math.IsNaN(d.Usual) {
		usual = t.Dim.On(", real ones ") + format.Number(d.Usual) + t.Dim.On(" apart")
	}
	ranked := fmt.Sprintf(", %s of %s rows", format.Count(d.Looked), format.Count(m.Snap.Synthetic))
	return theme.Longest([]string{
		t.Dim.On(near), t.Dim.On(near) + usual, t.Dim.On(near+", "+by) + usual, t.Dim.On(near+of+", "+by) + usual, t.Dim.On(near+of+" for z and z', "+by+ranked) + usual,
	}, w)
}

// dreamGrid is the arrangement of dreams in a pane.
type dreamGrid struct {
	across, down, side int
	beside             bool // the frame of z′ is to the right of that of z, not below it
}

// dreamGridIn has as many readable dreams as fit in w by h, up to plenty; among grids of equally
// many it takes the one with the largest.
func dreamGridIn(w, h int) (best dreamGrid) {
	for _, beside := range []bool{false, true} {
		for down := 1; down <= max(1, h/(captions+1)); down++ {
			for across := 1; across*down <= event.MostDreams; across++ {
				g := dreamGrid{across: across, down: down, beside: beside}
				each, rows := (w-2*(across-1))/across, h/down-captions
				if beside {
					each = (each - 1) / 2
				} else {
					rows /= 2
				}
				if g.side = min(each, 2*rows) &^ 1; g.better(best) {
					best = g
				}
			}
		}
	}
	if best.side < leastDream { // only lines of numbers fit
		return dreamGrid{across: 1, down: max(1, min(h, event.MostDreams))}
	}
	return best
}

func (g dreamGrid) better(than dreamGrid) bool {
	n, other := min(plenty, g.across*g.down), min(plenty, than.across*than.down)
	switch {
	case g.side >= readableDream && than.side >= readableDream && n != other:
		return n > other
	case (g.side >= readableDream) != (than.side >= readableDream):
		return g.side >= readableDream
	}
	if g.side == than.side {
		return g.across*g.down > than.across*than.down
	}
	return g.side > than.side
}

// dreamLines are the dreams of a grid.
func (m *Pane) dreamLines(d *event.Dreamt, g dreamGrid, w, h int) (out []string) {
	t := m.Theme
	if g.side == 0 {
		for _, r := range d.Rows {
			out = append(out, t.Fit(m.dreamText(d, r)+"  "+m.distances(r), w))
		}
		return out[:min(len(out), h)]
	}
	each := g.side
	if g.beside {
		each = 2*g.side + 1
	}
	for first := 0; first < len(d.Rows); first += g.across {
		var block []string
		for i, r := range d.Rows[first:min(first+g.across, len(d.Rows))] {
			for y, line := range m.dream(d, r, g) {
				if i == 0 {
					block = append(block, "")
				} else {
					block[y] += "  "
				}
				block[y] += t.Fit(line, each)
			}
		}
		out = append(out, block...)
	}
	if d.Left > 0 && len(out) < h {
		out = append(out, t.Dim.On(fmt.Sprintf("looking for %d more", d.Left)+t.Glyphs.Wait))
	}
	return out
}

// dream is one row: its numbers, the two frames, and their distances.
func (m *Pane) dream(d *event.Dreamt, r event.Dream, g dreamGrid) []string {
	z, next := m.nearest(d, r.Z, g.side), m.nearest(d, r.Next, g.side)
	out := []string{m.dreamText(d, r)}
	if !g.beside { // the line between the frames has their numbers
		return slices.Concat(out, z, []string{m.distances(r)}, next)
	}
	for y := range z {
		out = append(out, z[y]+" "+next[y])
	}
	return append(out, m.distances(r))
}

// dreamText is the value that a row is sorted by, and its reward.
func (m *Pane) dreamText(d *event.Dreamt, r event.Dream) string {
	t := m.Theme
	reward := t.Dim.On("R ") + format.Number(r.Return)
	if math.IsNaN(r.F) {
		return reward
	}
	return t.Dim.On(map[string]string{event.DreamsByAsked: "asked "}[d.Order]+"F ") + t.Synthetic.On(format.Number(r.F)) + " " + reward
}

// distances are the distances of z and of z′.
func (m *Pane) distances(r event.Dream) string {
	t := m.Theme
	return t.Dim.On("z ") + format.Known(r.Z.Distance) + t.Dim.On(" z' ") + format.Known(r.Next.Distance)
}

// nearest is a frame in side/2 lines of side columns.
func (m *Pane) nearest(d *event.Dreamt, n event.NearestFrame, side int) []string {
	t := m.Theme
	if n.Frame == nil {
		why := "its frame is forgotten"
		if math.IsNaN(n.Distance) {
			why = "not finite"
		}
		return t.Fill(m.Waiting(why, side, side/2), side, side/2)
	}
	return m.Canvas().Square(n.Frame, d.Side, side)
}

// dreamsNote says when the rows were taken.
func (m *Pane) dreamsNote(w int) string {
	d := m.Snap.Dreamt
	if d == nil || d.Unknown != "" {
		return ""
	}
	return theme.Longest([]string{m.Theme.Dim.On("step " + format.Count(d.Step)), m.Theme.Dim.On("sorted at step " + format.Count(d.Step))}, w)
}

// pollDreams asks the run for dreams while they are shown.
func (m *Pane) pollDreams() {
	k := &m.dreams
	if k.fit == 0 || !m.Generates() || m.Now().Sub(k.asked) < dreamsEvery {
		return
	}
	if m.Lab.Send(event.Dreams{Rows: k.fit}) == nil {
		k.asked = m.Now()
	}
}
