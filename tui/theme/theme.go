// Package theme is the colours and characters of a screen, and the drawing done with them: text cut
// and padded to columns, boxes, bars, sparklines. Styles come from one lipgloss renderer, so that
// screens on different terminals can live in one process.
package theme

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"pgrlab/tui/chart"
)

// Ink is a style reduced to what it writes before and after a text. Rendering a
// lipgloss style costs microseconds a call and the screen makes thousands of calls
// a frame; the two strings are taken from one rendering.
type Ink struct{ before, after string }

// On is s in this ink.
func (i Ink) On(s string) string {
	if s == "" || i.before == "" {
		return s
	}
	return i.before + s + i.after
}

// UnderCursor is the text at the cursor of an entry, a character or what is selected with the space after it.
// Without inks the cursor is a mark of its own: _ in the place of that space, or | before the character.
func (t *Theme) UnderCursor(s string) string {
	if t.Cursor.before != "" {
		return t.Cursor.On(s)
	}
	if text, space := strings.CutSuffix(s, " "); space {
		return text + "_"
	}
	return "|" + s
}

// Theme is every colour and glyph of one screen. Its styles come from one renderer,
// so that screens for different terminals can live in one process.
type Theme struct {
	Renderer *lipgloss.Renderer
	Set      CharacterSet
	Glyphs   glyphs
	Chart    chart.Glyphs

	Text, Bold, Dim, Faint     Ink
	Title, TitleFocus          Ink
	border, borderFocus        Ink
	Good, Warn, Bad            Ink
	Accent, Staged, Key        Ink
	BarFull, barRest           Ink
	Selected, Cursor           Ink
	StateRun, StatePause       Ink
	StateStop, StateStart      Ink
	Series                     [6]Ink // for the runs, then for a quantity's further lines
	Real, Synthetic, Reference Ink
	Fan                        [3]Ink // of forks without the change, with it, of both
	marker, MarkerNumber       Ink
	Ramp                       [len(ramp)]Ink // for a share from 0 to 1: see RampAt
}

// glyphs are the characters outside the charts, each one column wide.
type glyphs struct {
	topLeft, topRight, BottomLeft, BottomRight string
	Horizontal, Vertical                       string
	titleLeft, titleRight                      string
	Full, Rest, barLeft, barRight              string
	parts                                      []string // growing fractions of a full cell
	Cursor, Dot, Ring, Cross, Check, Wait      string
	Left, Right, Up, down, Arrow, Ellipsis     string
	Blocks                                     []string // eight heights of a column, lowest first
	Times, PlusMinus, Separator, Pause, Play   string
	Stop                                       string
}

func unicodeGlyphs() glyphs {
	return glyphs{
		topLeft: "╭", topRight: "╮", BottomLeft: "╰", BottomRight: "╯", Horizontal: "─", Vertical: "│",
		titleLeft: "┤", titleRight: "├",
		Full: "█", Rest: "·", barLeft: "▕", barRight: "▏", parts: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉"},
		Cursor: "▸", Dot: "●", Ring: "○", Cross: "✗", Check: "✓", Wait: "…",
		Left: "←", Right: "→", Up: "↑", down: "↓", Arrow: "→", Ellipsis: "…",
		Blocks: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Times:  "×", PlusMinus: "±", Separator: "·", Pause: "‖", Play: "●", Stop: "■",
	}
}

func asciiGlyphs() glyphs {
	return glyphs{
		topLeft: "+", topRight: "+", BottomLeft: "+", BottomRight: "+", Horizontal: "-", Vertical: "|",
		titleLeft: "[", titleRight: "]",
		Full: "#", Rest: ".", barLeft: "[", barRight: "]", parts: nil,
		Cursor: ">", Dot: "*", Ring: "o", Cross: "x", Check: "+", Wait: "...",
		Left: "<-", Right: "->", Up: "^", down: "v", Arrow: "->", Ellipsis: "~",
		Blocks: []string{".", ".", ":", ":", "|", "|", "#", "#"},
		Times:  "x", PlusMinus: "+-", Separator: "-", Pause: "=", Play: "*", Stop: "#",
	}
}

// consoleGlyphs are the glyphs in the font of the Linux console.
func consoleGlyphs() glyphs {
	g := unicodeGlyphs()
	g.topLeft, g.topRight, g.BottomLeft, g.BottomRight = "┌", "┐", "└", "┘"
	g.barLeft, g.barRight, g.parts = "[", "]", []string{"▌"}
	g.Blocks = []string{"_", "▄", "▄", "█"}
	g.Cursor, g.Dot, g.Ring, g.Cross, g.Check, g.Wait = ">", "•", "o", "x", "√", "..."
	g.Ellipsis, g.Pause, g.Play = "~", "=", "•"
	return g
}

// palette has two tones of each colour: for dark and for light backgrounds.
type palette map[string][2]lipgloss.CompleteColor

// colours has two tones of each colour: for dark and for light backgrounds. The hues are those of
// Okabe and Ito's palette, which people with colour blindness can tell apart; nothing on the screen
// is expressed by colour alone.
var colours = palette{
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

// New takes every style from r, and the characters from set.
func New(r *lipgloss.Renderer, set CharacterSet) *Theme { return inked(r, set, colours) }

// inked is a theme with the colours of a palette.
func inked(r *lipgloss.Renderer, set CharacterSet, colours palette) *Theme {
	tone := 0
	if !r.HasDarkBackground() {
		tone = 1
	}
	colour := func(name string) lipgloss.Style { return r.NewStyle().Foreground(colours[name][tone]) }
	mk := func(s lipgloss.Style) Ink {
		before, after, _ := strings.Cut(s.Render("x"), "x")
		return Ink{before, after}
	}
	t := &Theme{
		Glyphs: unicodeGlyphs(), Chart: ChartGlyphs(set),
		Bold: mk(r.NewStyle().Bold(true)), Dim: mk(colour("grey")), Faint: mk(colour("faint")),
		Title: mk(colour("grey").Bold(true)), TitleFocus: mk(colour("sky").Bold(true)),
		border: mk(colour("faint")), borderFocus: mk(colour("sky")),
		Good: mk(colour("green")), Warn: mk(colour("orange")), Bad: mk(colour("red").Bold(true)),
		Accent: mk(colour("sky")), Staged: mk(colour("yellow").Bold(true)), Key: mk(colour("sky").Bold(true)),
		BarFull: mk(colour("sky")), barRest: mk(colour("faint")),
		Cursor:   mk(r.NewStyle().Reverse(true)),
		Selected: mk(r.NewStyle().Background(colours["bar"][tone]).Bold(true)),
		StateRun: mk(colour("green").Bold(true)), StatePause: mk(colour("orange").Bold(true)),
		StateStop: mk(colour("red").Bold(true)), StateStart: mk(colour("sky").Bold(true)),
		Series: [6]Ink{mk(colour("sky")), mk(colour("orange")), mk(colour("green")), mk(colour("purple")), mk(colour("violet")), mk(colour("grey"))},
		Real:   mk(colour("sky")), Synthetic: mk(colour("orange")), Reference: mk(colour("purple")),
		Fan:    [3]Ink{mk(colour("grey")), mk(colour("yellow")), mk(colour("yellow"))},
		marker: mk(colour("faint")), MarkerNumber: mk(colour("yellow").Bold(true)),
	}
	for i, c := range ramp {
		t.Ramp[i] = mk(r.NewStyle().Foreground(lipgloss.Color(fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B))))
	}
	switch set {
	case ASCII:
		t.Glyphs = asciiGlyphs()
	case Console:
		t.Glyphs = consoleGlyphs()
	}
	t.Renderer, t.Set = r, set
	return t
}

// Paint colours the pieces of a chart.
func (t *Theme) Paint(r chart.Role, s string) string {
	switch r.Kind {
	case chart.AxisLine:
		return t.Faint.On(s)
	case chart.AxisLabel:
		return t.Dim.On(s)
	case chart.SeriesLine, chart.SeriesDot, chart.SeriesEnd:
		return t.Series[r.Series%len(t.Series)].On(s)
	case chart.SeriesBand:
		return t.Faint.On(s)
	case chart.FanArea, chart.FanMean:
		return t.Fan[r.Series].On(s)
	case chart.MarkerLine, chart.AppliedTick:
		return t.marker.On(s)
	case chart.MarkerNumber:
		return t.MarkerNumber.On(s)
	case chart.CursorLine, chart.GhostMark:
		return t.Accent.On(s)
	case chart.ReferenceBracket:
		return t.Reference.On(s)
	case chart.FallSign:
		return t.Bad.On(s)
	case chart.ReferenceFaint, chart.LevelLine, chart.NoiseBand:
		return t.Faint.On(s)
	case chart.GhostLine:
		return t.Dim.On(s)
	default:
		return s
	}
}

// NewRenderer chooses colours from the environment alone (NO_COLOR, CLICOLOR, COLORTERM, TERM,
// COLORFGBG): a question to the terminal would mean waiting for its answer, and might swallow the
// first keys.
func NewRenderer(out io.Writer, env termenv.Environ) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetColorProfile(Profile(env))
	r.SetHasDarkBackground(DarkBackground(env.Getenv("COLORFGBG")))
	return r
}

// coloured are the first words of the names of terminals that have eight colours or more, and that termenv
// does not know by these names.
var coloured = map[string]bool{
	"screen": true, "tmux": true, "rxvt": true, "st": true, "foot": true, "putty": true, "konsole": true, "vte": true, "gnome": true, "eterm": true, "mlterm": true,
	"mintty": true, "cygwin": true, "iterm": true, "iterm2": true, "nsterm": true, "dtterm": true, "cons25": true, "xterm": true, "linux": true, "bvterm": true, "teraterm": true,
}

// Profile says which colours a terminal has, by the environment alone.
func Profile(env termenv.Environ) termenv.Profile {
	o := termenv.NewOutput(io.Discard, termenv.WithEnvironment(env), termenv.WithTTY(true))
	p := o.EnvColorProfile()
	words := strings.FieldsFunc(strings.ToLower(env.Getenv("TERM")), func(r rune) bool { return r == '-' || r == '.' })
	if p != termenv.Ascii || o.EnvNoColor() || len(words) == 0 || !coloured[words[0]] || slices.Contains(words, "mono") || slices.Contains(words, "m") {
		return p
	}
	return termenv.ANSI
}

// processEnvironment is the environment of this process.
type processEnvironment struct{}

func (processEnvironment) Environ() []string         { return os.Environ() }
func (processEnvironment) Getenv(name string) string { return os.Getenv(name) }

// OwnProfile is Profile for the environment of this process.
func OwnProfile() termenv.Profile { return Profile(processEnvironment{}) }

// DarkBackground reads rxvt's COLORFGBG ("15;0"); unknown means dark.
func DarkBackground(v string) bool {
	parts := strings.Split(v, ";")
	n, err := strconv.Atoi(parts[len(parts)-1])
	return err != nil || n < 7 || n == 8
}

// Spelled is text in the characters that the screen has.
func (t *Theme) Spelled(text string) string {
	if t.Set == ASCII {
		return spelledOut.Replace(text)
	}
	return text
}

// ChartGlyphs are the characters of the charts in a set.
func ChartGlyphs(set CharacterSet) chart.Glyphs {
	switch set {
	case ASCII:
		return chart.ASCII()
	case Console:
		return chart.Console()
	default:
		return chart.Unicode()
	}
}

// spelledOut replaces the non-ASCII letters of the definitions by their names, for terminals
// without these letters.
var spelledOut = strings.NewReplacer(
	"μ", "mu", "τ", "tau", "π", "pi", "γ", "gamma", "ω", "w", "α", "alpha", "λ", "lambda", "σ", "sigma", "Σ", "sum",
	"Q̄", "Q'", "H̄", "H", "ã", "a~", "−", "-", "≤", "<=", "²", "^2", "±", "+-", "·", "*", "∅", "none", "╎", "!", "┴", "^")

// CharacterSet chooses the characters of a screen.
type CharacterSet int

// The sets.
const (
	Unicode CharacterSet = iota // box drawing and blocks, no Braille
	ASCII                       // plain ASCII only
	Console                     // the box drawing in the Linux console's font
)
