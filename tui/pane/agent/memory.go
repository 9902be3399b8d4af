package agent

import (
	"cmp"
	"fmt"
	"image"
	"image/draw"
	"math"
	"slices"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/picture"
	"pgrlab/tui/theme"
)

// remembers says whether the newest answer includes a memory of its episode.
func (p *Pane) remembers() bool {
	now := p.Snap.Moment
	return now != nil && now.Memory != nil
}

// pose is the pose to draw. With a memory, or frames beside a map, it is the pose of the same moment;
// otherwise these would be of another place, or of another maze.
func (p *Pane) pose() []float64 {
	if p.remembers() || p.mapped() {
		return p.Snap.Moment.Pose
	}
	return p.Snap.Pose
}

// mapped says whether there is a map to draw beside the frames that the agent sees.
func (p *Pane) mapped() bool {
	now := p.Snap.Moment
	return now != nil && len(now.Seen) > 0 && len(now.Pose) > 0 && p.About.Draw != nil && p.About.Ground != nil
}

// seenBeside puts the newest frame that the agent sees into a picture, in the place of the view that
// was drawn beside the map: as large as there is room, in the middle.
func (p *Pane) seenBeside(img *image.RGBA) {
	size, now := img.Rect.Size(), p.Snap.Moment
	part, _ := p.About.Ground(size.X, size.Y)
	room := image.Rect(0, 0, part.Min.X, size.Y)
	side := min(room.Dx(), room.Dy())
	draw.Draw(img, room, image.Black, image.Point{}, draw.Src)
	corner := image.Pt((room.Dx()-side)/2, (room.Dy()-side)/2)
	picture.Frame(img, now.Seen[len(now.Seen)-1], now.Side, image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))})
}

// entrySize is the side of an entry on the ground, in units of the ground.
const entrySize = 0.3

// remembered is a picture in w by h cells, with the entries of the memory where they were met.
// Their similarity to the present view is shown by the colours of the ramp or, without colours, as
// a digit, its tenths. Where entries overlap, the most similar one is on top.
func (p *Pane) remembered(img *image.RGBA, w, h int, canvas picture.Canvas) []string {
	entries := p.placed()
	if len(entries) == 0 {
		return canvas.Lines(img, w, h)
	}
	size := img.Rect.Size()
	part, units := p.About.Ground(size.X, size.Y)
	scale := float64(part.Dx()) / units
	if canvas.Colours() {
		side := max(1, int(math.Round(entrySize*scale)))
		for _, e := range entries {
			corner := part.Min.Add(image.Pt(int(e.X*scale)-(side-1)/2, int(e.Y*scale)-(side-1)/2))
			dot := image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}.Intersect(part)
			draw.Draw(img, dot, image.NewUniform(theme.RampAt(e.Similarity)), image.Point{}, draw.Src)
		}
		return canvas.Lines(img, w, h)
	}
	lines := canvas.Lines(img, w, h)
	for _, e := range entries {
		x, y := (part.Min.X+int(e.X*scale))*w/size.X, (part.Min.Y+int(e.Y*scale))*h/size.Y
		if y >= 0 && y < len(lines) && x >= 0 && x < len(lines[y]) {
			lines[y] = lines[y][:x] + string(tenths(e.Similarity)) + lines[y][x+1:]
		}
	}
	return lines
}

// tenths is a share as a digit; 9 stands for 0.9 and more.
func tenths(share float64) byte { return '0' + byte(max(0, min(9, int(share*10)))) }

// placed are the entries whose position is known, the most similar last.
func (p *Pane) placed() []event.Remembered {
	if !p.remembers() || p.About.Ground == nil {
		return nil
	}
	entries := slices.DeleteFunc(slices.Clone(p.Snap.Moment.Memory.Entries), func(e event.Remembered) bool { return math.IsNaN(e.X) })
	slices.SortStableFunc(entries, func(a, b event.Remembered) int { return cmp.Compare(a.Similarity, b.Similarity) })
	return entries
}

// memoryFacts are the numbers of the memory, and the meaning of its marks.
func (p *Pane) memoryFacts() []string {
	if !p.remembers() {
		return nil
	}
	t, m := p.Theme, p.Snap.Moment.Memory
	label := func(name string) string { return t.Dim.On(t.Fit(name, labelColumns)) }
	if m.Unknown != "" {
		var out []string
		for i, line := range theme.Wrap(m.Unknown, agentColumns-labelColumns) {
			out = append(out, label([]string{"memory", ""}[min(i, 1)])+t.Dim.On(line))
		}
		return out
	}
	out := []string{
		label("memory") + fmt.Sprintf("%d %s", len(m.Entries), format.Plural("observation", len(m.Entries))),
		label("P90") + format.Known(m.P90) + t.Dim.On(" of similarity"),
	}
	if len(p.Snap.Moment.Seen) > 0 && !p.mapped() {
		return out // its frames are drawn in the place of the map
	}
	if placed := len(p.placed()); placed < len(m.Entries) && p.About.Ground != nil {
		out = append(out, label("")+t.Dim.On(fmt.Sprintf("%d saved without place", len(m.Entries)-placed)))
		if placed == 0 {
			return out
		}
	}
	switch {
	case len(m.Entries) == 0 || p.About.Ground == nil:
	case p.Canvas().Colours():
		marks := ""
		for _, ink := range t.Ramp {
			marks += ink.On(t.Glyphs.Full + t.Glyphs.Full)
		}
		out = append(out, label("similar")+"0 "+marks+" 1")
	default:
		out = append(out, label("similar")+t.Dim.On("0..9 in tenths"))
	}
	return out
}
