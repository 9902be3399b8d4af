package chart

import "github.com/guptarohit/asciigraph"

// Glyphs are the characters of a chart. Each is one column wide.
type Glyphs struct {
	lines   []asciigraph.CharSet // one per series, so that lines differ even without colour
	span    string               // values that share a column with the line
	band    string               // between the ends of a band
	dots    []string             // measured points
	axis    string
	corner  string
	floor   string
	tick    string // at a label of the horizontal axis
	applied string
	marker  string
	cursor  string
	pointer string // before a marker's number below the axis
	bracket [4]string
	braille bool // lines are drawn with Braille dots; the rest stays as given here
	above   string
	below   string
	level   string
	noise   string    // in the noise band
	fall    string    // in place of the dot of a fall
	fan     [3]string // in a fan's area without the change, with it, in both
	mean    [2]string // on a fan's mean without the change, and with it
	ghost   [3]string // on the edges of a ghost, on its middle, at its level on the axis
	broken  string    // a break of the horizontal axis
}

// Unicode draws with box-drawing characters.
func Unicode() Glyphs {
	return Glyphs{
		lines: []asciigraph.CharSet{
			set("─", "│", "╭", "╮", "╰", "╯", "╶"),
			set("┄", "┆", "┌", "┐", "└", "┘", "┄"),
			set("═", "║", "╔", "╗", "╚", "╝", "═"),
			set("·", "·", "·", "·", "·", "·", "·"),
			set("━", "┃", "┏", "┓", "┗", "┛", "━"),
			set("┅", "┇", "┏", "┓", "┗", "┛", "┅"),
		},
		span: "┊", band: "░", dots: []string{"●", "○", "■", "□", "◆", "◇"},
		axis: "┤", corner: "└", floor: "─", tick: "┬", applied: "┴", marker: "╎", cursor: "┃", pointer: "▲",
		bracket: [4]string{"┐", "│", "┘", "┤"}, above: "▲", below: "▼", level: "╌", noise: "░", fall: "▼",
		fan: [3]string{"░", "▒", "▓"}, mean: [2]string{"┄", "━"}, ghost: [3]string{"·", "┈", "▸"}, broken: "╱",
	}
}

// ASCII draws with ASCII characters only.
func ASCII() Glyphs {
	return Glyphs{
		lines: []asciigraph.CharSet{
			set("-", "|", ".", ".", "'", "'", "-"),
			set("~", ":", ".", ".", "'", "'", "~"),
			set("=", "|", ".", ".", "'", "'", "="),
			set(".", ".", ".", ".", ".", ".", "."),
			set("*", "*", "*", "*", "*", "*", "*"),
			set("%", "%", "%", "%", "%", "%", "%"),
		},
		span: ":", band: ".", dots: []string{"o", "x", "#", "+", "@", "&"},
		axis: "|", corner: "+", floor: "-", tick: "+", applied: "^", marker: "!", cursor: "|", pointer: "^",
		bracket: [4]string{".", "|", "'", "+"}, above: "^", below: "v", level: "-", noise: ",", fall: "v",
		fan: [3]string{".", ":", "%"}, mean: [2]string{"-", "="}, ghost: [3]string{".", "~", ">"}, broken: "/",
	}
}

// Console draws with the box-drawing characters of the Linux console's font, which has no arcs and
// no dashes.
func Console() Glyphs {
	g := Unicode()
	g.lines = []asciigraph.CharSet{
		set("─", "│", "┌", "┐", "└", "┘", "─"),
		set("·", "·", "·", "·", "·", "·", "·"),
		set("═", "║", "╔", "╗", "╚", "╝", "═"),
		set("-", ":", ".", ".", "'", "'", "-"),
		set("*", "*", "*", "*", "*", "*", "*"),
		set("%", "%", "%", "%", "%", "%", "%"),
	}
	g.span, g.marker, g.cursor, g.level = "│", ":", "║", "-"
	g.mean = [2]string{"-", "="}
	g.ghost, g.broken = [3]string{"·", "-", ">"}, "/"
	g.dots = []string{"•", "o", "■", "+", "@", "&"}
	return g
}

// set is a character set with a blank end cap: a cap would lie one column after the last value.
func set(horizontal, vertical, downRight, downLeft, upRight, upLeft, start string) asciigraph.CharSet {
	return asciigraph.CharSet{
		Horizontal: horizontal, VerticalLine: vertical,
		ArcDownRight: downRight, ArcDownLeft: downLeft, ArcUpRight: upRight, ArcUpLeft: upLeft,
		StartCap: start, EndCap: " ", UpRight: horizontal, DownHorizontal: horizontal,
	}
}

// FanSamples are pieces of a fan's areas without the change and with it, for legends.
func (g Glyphs) FanSamples() (without, with string) {
	return g.fan[0] + g.mean[0], g.fan[1] + g.mean[1]
}

// Dotted are the glyphs with which a fan is drawn as dots, for legends.
func (g Glyphs) Dotted() Glyphs {
	g.fan = [3]string{g.dots[fanDots[0]], g.dots[fanDots[1]], g.dots[fanDots[1]]}
	return g
}

// Sample is a short piece of the n-th series' line with its dot, for legends.
func (g Glyphs) Sample(n int, draw Draw) string {
	line := g.lines[n%len(g.lines)].Horizontal
	dot := g.dots[n%len(g.dots)]
	if g.braille {
		line = brailleSample(n, 1)
	}
	switch draw {
	case Dots:
		return dot
	case LineAndDots:
		return line + dot + line
	case Line:
		if g.braille {
			return brailleSample(n, 2)
		}
	}
	return line + line
}
