package query

import (
	"fmt"
	"image"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgrlab/tui/picture"
)

// Answers are what a terminal has said about itself.
type Answers struct {
	Name       string // with its version, as the terminal writes them; "": it has not said
	Attributes []int  // those of DA1
	Kitty      bool   // the terminal has accepted an image by kitty's protocol
	Cell       image.Point
	Colours    int // number of sixel colours; 0: unknown
}

// answer matches what a terminal sends without a key press: DA1 and XTSMGRAPHICS, the size of a
// cell, the name, an answer to an image.
var answer = regexp.MustCompile(`\x1b\[\?[0-9;]*[cS]|\x1b\[6;[0-9]+;[0-9]+t|\x1bP>\|[^\x1b]*\x1b\\|\x1b_G[^\x1b]*\x1b\\`)

// begun matches the beginning of an answer, as far as it cannot be a key.
var begun = regexp.MustCompile(`(\x1b\[\?[0-9;]*|\x1bP>\|[^\x1b]*\x1b?|\x1b_G[^\x1b]*\x1b?)$`)

// longest is more bytes than any answer has.
const longest = 512

// sixelGraphics is the attribute of terminals that show sixels.
const sixelGraphics = 4

// take notes an answer, and says whether it was DA1.
func (a *Answers) take(text string) bool {
	body := text[2 : len(text)-1]
	switch end := text[len(text)-1]; {
	case text[1] == 'P':
		a.Name = strings.TrimSuffix(strings.TrimPrefix(body, ">|"), "\x1b")
	case text[1] == '_':
		a.Kitty = a.Kitty || strings.HasSuffix(body, ";OK\x1b")
	case end == 't':
		n := numbers(body)
		a.Cell = image.Pt(n[2], n[1])
	case end == 'S':
		if n := numbers(body[1:]); len(n) == 3 && n[0] == 1 && n[1] == 0 { // registers, without an error
			a.Colours = n[2]
		}
	default:
		a.Attributes = numbers(body[1:])
		return true
	}
	return false
}

// numbers are the numbers between semicolons; text that is not a number counts as 0.
func numbers(text string) (all []int) {
	for _, n := range strings.Split(text, ";") {
		v, _ := strconv.Atoi(n)
		all = append(all, v)
	}
	return all
}

// multiplexed says whether this terminal has another one behind it, which is not asked. tmux passes
// kitty's images on only wrapped. A tmux built with sixels shows a text in their place if the
// terminal behind it has none.
func (a Answers) multiplexed() bool { return strings.HasPrefix(a.Name, "tmux ") }

// placeholders says whether the terminal has kitty's placeholders, which no answer says: kitty
// since 0.28 and Ghostty do.
func (a Answers) placeholders() bool {
	var major, minor int
	if n, _ := fmt.Sscanf(a.Name, "kitty(%d.%d", &major, &minor); n == 2 {
		return major > 0 || minor >= 28
	}
	return strings.HasPrefix(a.Name, "ghostty ")
}

// sixels says whether the terminal shows sixels where they belong. Konsole claims to, but it makes
// an image higher, up to whole rows of sixels, and scrolls if that reaches beyond the last line.
// Also, text wipes out an image only if it is in the image's first line.
func (a Answers) sixels() bool {
	return slices.Contains(a.Attributes, sixelGraphics) && !strings.HasPrefix(a.Name, "Konsole ")
}

// largestCell is more pixels than a side of a cell has on any display.
const largestCell = 200

func (a Answers) worthAsking() bool { return !a.multiplexed() && (a.placeholders() || a.sixels()) }

// Protocol is the best protocol by which the terminal shows images, and the size of a cell in
// pixels; 0 by 0: unknown, as a cell that is larger than any display has. The cell that the system
// reports, unless it is 0 by 0, is newer than the one in the answer.
func (a Answers) Protocol(cell image.Point) (picture.Protocol, image.Point) {
	const fewest = 256 // colours that a picture needs
	if cell.X < 1 || cell.Y < 1 {
		cell = a.Cell
	}
	if min(cell.X, cell.Y) < 1 || max(cell.X, cell.Y) > largestCell {
		cell = image.Point{}
	}
	switch {
	case !a.worthAsking():
	case a.Kitty && a.placeholders():
		return picture.Kitty, cell
	case a.sixels() && cell != (image.Point{}) && (a.Colours == 0 || a.Colours >= fewest):
		return picture.Sixel, cell
	}
	return picture.Characters, cell
}
