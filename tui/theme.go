package tui

import (
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/tui/chart"
)

// ink is a style reduced to what it writes before and after a text. Rendering a
// lipgloss style costs microseconds a call and the screen makes thousands of calls
// a frame; the two strings are taken from one rendering.
type ink struct{ before, after string }

func (i ink) on(s string) string {
	if s == "" || i.before == "" {
		return s
	}
	return i.before + s + i.after
}

// theme is every colour and glyph of one screen. Its styles come from one renderer,
// so that screens for different terminals can live in one process.
type theme struct {
	renderer *lipgloss.Renderer
	set      CharacterSet
	glyphs   glyphs
	chart    chart.Glyphs

	text, bold, dim, faint     ink
	title, titleFocus          ink
	border, borderFocus        ink
	good, warn, bad            ink
	accent, staged, key        ink
	barFull, barRest           ink
	selected, cursor           ink
	stateRun, statePause       ink
	stateStop, stateStart      ink
	series                     [6]ink // of the runs, then of a quantity's further lines
	real, synthetic, reference ink
	marker, markerNumber       ink
}

// glyphs are the characters outside the charts, each one column wide.
type glyphs struct {
	topLeft, topRight, bottomLeft, bottomRight string
	horizontal, vertical                       string
	titleLeft, titleRight                      string
	full, rest, barLeft, barRight              string
	parts                                      []string // growing fractions of a full cell
	cursor, dot, ring, cross, check, wait      string
	left, right, up, down, arrow, ellipsis     string
	blocks                                     []string // eight heights of a column, lowest first
	times, plusMinus, separator, pause, play   string
	shade                                      string
}

func unicodeGlyphs() glyphs {
	return glyphs{
		topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯", horizontal: "─", vertical: "│",
		titleLeft: "┤", titleRight: "├",
		full: "█", rest: "·", barLeft: "▕", barRight: "▏", parts: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉"},
		cursor: "▸", dot: "●", ring: "○", cross: "✗", check: "✓", wait: "…",
		left: "←", right: "→", up: "↑", down: "↓", arrow: "→", ellipsis: "…",
		blocks: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		times:  "×", plusMinus: "±", separator: "·", pause: "‖", play: "●", shade: "░",
	}
}

func asciiGlyphs() glyphs {
	return glyphs{
		topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", horizontal: "-", vertical: "|",
		titleLeft: "[", titleRight: "]",
		full: "#", rest: ".", barLeft: "[", barRight: "]", parts: nil,
		cursor: ">", dot: "*", ring: "o", cross: "x", check: "+", wait: "...",
		left: "<-", right: "->", up: "^", down: "v", arrow: "->", ellipsis: "~",
		blocks: []string{".", ".", ":", ":", "|", "|", "#", "#"},
		times:  "x", plusMinus: "+-", separator: "-", pause: "=", play: "*", shade: "=",
	}
}

// consoleGlyphs are those that the font of the Linux console has.
func consoleGlyphs() glyphs {
	g := unicodeGlyphs()
	g.topLeft, g.topRight, g.bottomLeft, g.bottomRight = "┌", "┐", "└", "┘"
	g.barLeft, g.barRight, g.parts = "[", "]", []string{"▌"}
	g.blocks = []string{"_", "▄", "▄", "█"}
	g.cursor, g.dot, g.ring, g.cross, g.check, g.wait = ">", "•", "o", "x", "√", "..."
	g.ellipsis, g.pause, g.play = "~", "=", "•"
	return g
}

// Two tones of each colour: for dark and for light backgrounds. The hues are those
// of Okabe and Ito's palette, which people with colour blindness can tell apart;
// nothing on the screen is said by colour alone.
var colours = map[string][2]lipgloss.CompleteColor{
	"sky":    {{TrueColor: "#56B4E9", ANSI256: "75", ANSI: "14"}, {TrueColor: "#0072B2", ANSI256: "25", ANSI: "4"}},
	"orange": {{TrueColor: "#E69F00", ANSI256: "214", ANSI: "11"}, {TrueColor: "#B26F00", ANSI256: "130", ANSI: "3"}},
	"green":  {{TrueColor: "#2FBF8F", ANSI256: "43", ANSI: "10"}, {TrueColor: "#00795A", ANSI256: "29", ANSI: "2"}},
	"yellow": {{TrueColor: "#F0E442", ANSI256: "227", ANSI: "11"}, {TrueColor: "#8A7A00", ANSI256: "100", ANSI: "3"}},
	"red":    {{TrueColor: "#F0713A", ANSI256: "209", ANSI: "9"}, {TrueColor: "#B84300", ANSI256: "130", ANSI: "1"}},
	"purple": {{TrueColor: "#CC79A7", ANSI256: "175", ANSI: "13"}, {TrueColor: "#9A3F75", ANSI256: "132", ANSI: "5"}},
	"violet": {{TrueColor: "#9A8CFF", ANSI256: "105", ANSI: "12"}, {TrueColor: "#4B3FB5", ANSI256: "61", ANSI: "4"}},
	"grey":   {{TrueColor: "#8A919B", ANSI256: "245", ANSI: "7"}, {TrueColor: "#626A73", ANSI256: "242", ANSI: "8"}},
	"faint":  {{TrueColor: "#565D67", ANSI256: "240", ANSI: "8"}, {TrueColor: "#A3A9B1", ANSI256: "248", ANSI: "7"}},
	"bar":    {{TrueColor: "#263445", ANSI256: "236", ANSI: "0"}, {TrueColor: "#D8E6F3", ANSI256: "254", ANSI: "7"}},
}

// newTheme takes every style from r and the characters from the wish for plain
// ones.
func newTheme(r *lipgloss.Renderer, set CharacterSet) *theme {
	tone := 0
	if !r.HasDarkBackground() {
		tone = 1
	}
	colour := func(name string) lipgloss.Style { return r.NewStyle().Foreground(colours[name][tone]) }
	mk := func(s lipgloss.Style) ink {
		before, after, _ := strings.Cut(s.Render("x"), "x")
		return ink{before, after}
	}
	t := &theme{
		glyphs: unicodeGlyphs(), chart: chartGlyphs(set),
		bold: mk(r.NewStyle().Bold(true)), dim: mk(colour("grey")), faint: mk(colour("faint")),
		title: mk(colour("grey").Bold(true)), titleFocus: mk(colour("sky").Bold(true)),
		border: mk(colour("faint")), borderFocus: mk(colour("sky")),
		good: mk(colour("green")), warn: mk(colour("orange")), bad: mk(colour("red").Bold(true)),
		accent: mk(colour("sky")), staged: mk(colour("yellow").Bold(true)), key: mk(colour("sky").Bold(true)),
		barFull: mk(colour("sky")), barRest: mk(colour("faint")),
		cursor:   mk(r.NewStyle().Reverse(true)),
		selected: mk(r.NewStyle().Background(colours["bar"][tone]).Bold(true)),
		stateRun: mk(colour("green").Bold(true)), statePause: mk(colour("orange").Bold(true)),
		stateStop: mk(colour("red").Bold(true)), stateStart: mk(colour("sky").Bold(true)),
		series: [6]ink{mk(colour("sky")), mk(colour("orange")), mk(colour("green")), mk(colour("purple")), mk(colour("violet")), mk(colour("grey"))},
		real:   mk(colour("sky")), synthetic: mk(colour("orange")), reference: mk(colour("purple")),
		marker: mk(colour("faint")), markerNumber: mk(colour("yellow").Bold(true)),
	}
	switch set {
	case ASCII:
		t.glyphs = asciiGlyphs()
	case Console:
		t.glyphs = consoleGlyphs()
	}
	t.renderer, t.set = r, set
	return t
}

// paint colours the pieces of a chart.
func (t *theme) paint(r chart.Role, s string) string {
	switch r.Kind {
	case chart.AxisLine:
		return t.faint.on(s)
	case chart.AxisLabel:
		return t.dim.on(s)
	case chart.SeriesLine, chart.SeriesDot, chart.SeriesEnd:
		return t.series[r.Series%len(t.series)].on(s)
	case chart.MarkerLine, chart.AppliedTick:
		return t.marker.on(s)
	case chart.MarkerNumber:
		return t.markerNumber.on(s)
	case chart.CursorLine:
		return t.accent.on(s)
	case chart.ReferenceBracket:
		return t.reference.on(s)
	case chart.ReferenceFaint:
		return t.faint.on(s)
	default:
		return s
	}
}

// newRenderer chooses colours from the environment alone (NO_COLOR, CLICOLOR,
// COLORTERM, TERM, COLORFGBG): asking the terminal would wait for its answer and
// may eat the first keys.
func newRenderer(out io.Writer, env termenv.Environ) *lipgloss.Renderer {
	o := termenv.NewOutput(out, termenv.WithEnvironment(env), termenv.WithTTY(true))
	r := lipgloss.NewRenderer(out)
	r.SetColorProfile(o.EnvColorProfile())
	r.SetHasDarkBackground(darkBackground(env.Getenv("COLORFGBG")))
	return r
}

// darkBackground reads rxvt's COLORFGBG ("15;0"); unknown means dark.
func darkBackground(v string) bool {
	parts := strings.Split(v, ";")
	n, err := strconv.Atoi(parts[len(parts)-1])
	return err != nil || n < 7 || n == 8
}

// spelled is text in characters that the screen has.
func (t *theme) spelled(text string) string {
	if t.set == ASCII {
		return spelledOut.Replace(text)
	}
	return text
}

// chartGlyphs are the characters of the charts in a set.
func chartGlyphs(set CharacterSet) chart.Glyphs {
	switch set {
	case ASCII:
		return chart.ASCII()
	case Console:
		return chart.Console()
	default:
		return chart.Unicode()
	}
}

// spelledOut names, for terminals without them, the letters of the definitions that
// are not ASCII.
var spelledOut = strings.NewReplacer(
	"μ", "mu", "τ", "tau", "π", "pi", "γ", "gamma", "ω", "w", "α", "alpha", "λ", "lambda", "σ", "sigma", "Σ", "sum",
	"Q̄", "Q'", "H̄", "H", "ã", "a~", "−", "-", "≤", "<=", "²", "^2", "±", "+-", "·", "*", "∅", "none", "╎", "!", "┴", "^")

// CharacterSet chooses the characters of a screen.
type CharacterSet int

// The sets.
const (
	Unicode CharacterSet = iota // box drawing and blocks, no Braille
	ASCII                       // plain ASCII only
	Console                     // the box drawing that the Linux console's font has
)
