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

// Answers are what a terminal has said of itself.
type Answers struct {
	Name       string // with its version, as it writes them; "": it has not said
	Attributes []int  // of DA1
	Kitty      bool   // it has taken an image by kitty's protocol
	Cell       image.Point
	Colours    int // of sixels; 0: unknown
}

// answer is what a terminal sends unasked by no key: DA1 and XTSMGRAPHICS, the size of a cell,
// the name, an answer to an image.
var answer = regexp.MustCompile(`\x1b\[\?[0-9;]*[cS]|\x1b\[6;[0-9]+;[0-9]+t|\x1bP>\|[^\x1b]*\x1b\\|\x1b_G[^\x1b]*\x1b\\`)

// begun is the beginning of one, as far as it can be no key.
var begun = regexp.MustCompile(`(\x1b\[\?[0-9;]*|\x1bP>\|[^\x1b]*\x1b?|\x1b_G[^\x1b]*\x1b?)$`)

// longest is more than an answer has bytes.
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

// numbers are those between semicolons; what is none counts as 0.
func numbers(text string) (all []int) {
	for _, n := range strings.Split(text, ";") {
		v, _ := strconv.Atoi(n)
		all = append(all, v)
	}
	return all
}

// multiplexed says whether another terminal, which is not asked, is behind this one. tmux
// passes kitty's images only wrapped, and where it was built with sixels shows a text for
// them on a terminal that has none.
func (a Answers) multiplexed() bool { return strings.HasPrefix(a.Name, "tmux ") }

// placeholders says whether the terminal is one of those that know kitty's placeholders,
// which no answer tells: kitty since 0.28, Ghostty.
func (a Answers) placeholders() bool {
	var major, minor int
	if n, _ := fmt.Sscanf(a.Name, "kitty(%d.%d", &major, &minor); n == 2 {
		return major > 0 || minor >= 28
	}
	return strings.HasPrefix(a.Name, "ghostty ")
}

// sixels says whether the terminal shows them where they belong. Konsole says that it does,
// but makes an image higher than it is, to whole rows of sixels, and scrolls where that is
// beyond the last line; and text wipes an image out where it is in its first line, else it
// does not.
func (a Answers) sixels() bool {
	return slices.Contains(a.Attributes, sixelGraphics) && !strings.HasPrefix(a.Name, "Konsole ")
}

func (a Answers) worthAsking() bool { return !a.multiplexed() && (a.placeholders() || a.sixels()) }

// Protocol is the best one that the terminal shows images by, and the size of a cell in
// pixels. What the system says of that, 0 by 0 if nothing, is newer than the answer.
func (a Answers) Protocol(cell image.Point) (picture.Protocol, image.Point) {
	const fewest = 256 // colours that a picture is drawn with
	if cell.X < 1 || cell.Y < 1 {
		cell = a.Cell
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
