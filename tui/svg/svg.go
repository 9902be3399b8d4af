// Package svg draws the contents of a terminal as an SVG picture. It knows neither the screen nor
// Bubble Tea.
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The size of a cell in pixels: a monospaced font of 14 pixels has characters 8.43 wide (DejaVu,
// Menlo).
const (
	cellWidth  = 8.43
	cellHeight = 16
	fontSize   = 14
	baseline   = 12
	margin     = 12
)

// Ground and ink are the colours of a cell that sets no others.
const (
	ground = "#101418"
	ink    = "#d0d4d8"
)

// Draw draws lines of text with escape sequences for colours and weights; title is for readers who
// cannot see the picture. Each run of equal cells is stretched to its columns, so that the reader's
// font does not shift it.
func Draw(frame, title string) []byte {
	lines := strings.Split(frame, "\n")
	columns := 0
	for _, l := range lines {
		columns = max(columns, ansi.StringWidth(l))
	}
	w, h := float64(columns)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %d" font-family="'DejaVu Sans Mono','Menlo','Consolas',monospace" font-size="%d" role="img">`+"\n", w, h, fontSize)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"%g\" height=\"%d\" rx=\"6\" fill=\"%s\"/>\n", escaped(title), w, h, ground)
	for i, l := range lines {
		drawLine(&b, l, margin+i*cellHeight)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawLine draws one line with its upper edge at top.
func drawLine(b *bytes.Buffer, line string, top int) {
	column := 0
	for _, r := range runs(line) {
		width := ansi.StringWidth(r.text)
		x, long := margin+float64(column)*cellWidth, float64(width)*cellWidth
		column += width
		fore, back := r.style.colours()
		if back != "" {
			fmt.Fprintf(b, `<rect x="%.6g" y="%d" width="%.6g" height="%d" fill="%s"/>`+"\n", x, top, long, cellHeight, back)
		}
		if strings.TrimSpace(r.text) == "" {
			continue
		}
		fmt.Fprintf(b, `<text x="%.6g" y="%d" textLength="%.6g" lengthAdjust="spacingAndGlyphs" fill="%s"%s xml:space="preserve">%s</text>`+"\n", x, top+baseline, long, fore, r.style.attributes(), escaped(r.text))
	}
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer accepts everything
	return b.String()
}

// A run is text of one style.
type run struct {
	text  string
	style style
}

// runs cuts a line where its style changes, and at blanks that fill one or more columns: the text
// after them is then at its place in any font.
func runs(line string) (all []run) {
	var now style
	var state byte
	for line != "" {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		line, state = line[n:], next
		if width == 0 {
			if strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") {
				now.apply(seq[2 : len(seq)-1])
			}
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].style == now && (seq == " ") == strings.HasSuffix(all[last].text, " ") {
			all[last].text += seq
		} else {
			all = append(all, run{seq, now})
		}
	}
	return all
}
