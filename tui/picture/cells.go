package picture

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// The cells of an image are ordinary characters: kitty's placeholder, whose colour is the number of
// the image and whose two diacritics say which row and column of the image the cell shows (kitty's
// graphics protocol, "Unicode placeholders"). So the cells can be cut, covered and laid beside
// other text. Every cell has both diacritics, so that it is right without its neighbour.

// diacritics maps diacritic characters to row and column numbers.
var diacritics = sync.OnceValue(func() map[rune]int {
	all := map[rune]int{kitty.Diacritic(0): 0}
	for i := 1; kitty.Diacritic(i) != kitty.Diacritic(0); i++ { // beyond the last diacritic the function returns the first
		all[kitty.Diacritic(i)] = i
	}
	return all
})

// colour is the escape sequence that begins the number of an image.
const colour = "\x1b[38;2;"

// placeholders are the w by h cells of an image.
func placeholders(id uint32, w, h int) []string {
	lines := make([]string, h)
	var b strings.Builder
	for y := range lines {
		b.Reset()
		fmt.Fprintf(&b, colour+"%d;%d;%dm", id>>16, id>>8&0xff, id&0xff)
		for x := range w {
			b.WriteRune(kitty.Placeholder)
			b.WriteRune(kitty.Diacritic(y))
			b.WriteRune(kitty.Diacritic(x))
		}
		b.WriteString(reset)
		lines[y] = b.String()
	}
	return lines
}

// run is a piece of a row of an image within a line: n cells that start in column x of the line and
// show the image from its column col on.
type run struct {
	x, n     int
	id       uint32
	row, col int
}

// piece is a piece of a line: text, or a run.
type piece struct {
	text []byte
	run  run // n = 0: text
}

var placeholder = []byte(string(kitty.Placeholder))

// pieces splits a line into its pieces, and lists its runs.
func pieces(line []byte) (all []piece, runs []run) {
	var id uint32
	x := 0
	for len(line) > 0 {
		at := bytes.Index(line, placeholder)
		if at < 0 {
			return append(all, piece{text: line}), runs
		}
		if at > 0 {
			if i := bytes.LastIndex(line[:at], []byte(colour)); i >= 0 {
				id = number(line[i+len(colour) : at])
			}
			all = append(all, piece{text: line[:at]})
			x += ansi.StringWidth(string(line[:at]))
			line = line[at:]
		}
		r := run{x: x, id: id}
		n := 0
		for bytes.HasPrefix(line, placeholder) {
			row, col, size := cellOf(line)
			if r.n > 0 && (row != r.row || col != r.col+r.n) {
				break
			}
			if r.n == 0 {
				r.row, r.col = row, col
			}
			r.n, n, line = r.n+1, n+1, line[size:]
		}
		x += n
		all, runs = append(all, piece{run: r}), append(runs, r)
	}
	return all, runs
}

// cellOf reads the placeholder at the beginning of a line: the row and column of the image, and its
// length in bytes. An invalid diacritic counts as the first one, as in the protocol.
func cellOf(line []byte) (row, col, size int) {
	size = len(placeholder)
	at := [2]int{}
	for i := range at {
		r, n := utf8.DecodeRune(line[size:])
		k, is := diacritics()[r]
		if !is {
			break
		}
		at[i], size = k, size+n
	}
	return at[0], at[1], size
}

// number is the number of the image that the colour at the beginning encodes.
func number(colour []byte) uint32 {
	var r, g, b uint32
	if n, _ := fmt.Sscanf(string(colour), "%d;%d;%dm", &r, &g, &b); n != 3 || max(r, g, b) > 255 {
		return 0
	}
	return r<<16 | g<<8 | b
}
