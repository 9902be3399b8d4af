package picture

import (
	"bytes"

	"github.com/charmbracelet/x/ansi"
)

// Frame returns what to write to the terminal so that it shows frame, as written by Bubble Tea's
// renderer, with its images. A frame of the renderer begins at the upper left corner and has all
// lines; an unchanged line is empty. Anything else is passed on; if it clears the screen, all that
// was shown is gone.
//
// With kitty's protocol, Frame sends the images that the terminal does not have yet and frees those
// that no cell shows any more. A sixel belongs to no cell: Frame replaces the placeholders by
// blanks and draws the images over them. A cell that already shows the right part of an image is
// left alone, because a blank would wipe it out.
func (m *Images) Frame(frame []byte) []byte {
	if m == nil {
		return frame
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	body, drawn := bytes.CutPrefix(frame, []byte(ansi.CursorHomePosition))
	switch {
	case m.protocol == Characters && len(m.sent) == 0:
		return frame
	case !drawn:
		return m.other(frame)
	}
	m.frame++
	lines := bytes.Split(body, []byte("\n"))
	before := m.rows
	m.rows = make([][]run, len(lines))
	out := append(make([]byte, 0, len(frame)), ansi.CursorHomePosition...)
	var draw []run2D
	for y, line := range lines {
		if y > 0 {
			out = append(out, '\n')
		}
		var old []run
		if y < len(before) {
			old = before[y]
		}
		if unchanged(line, y == len(lines)-1) {
			m.rows[y] = old
			out = append(out, line...)
			continue
		}
		if !bytes.Contains(line, placeholder) {
			out = append(out, line...)
			continue
		}
		var all []piece
		all, m.rows[y] = pieces(line)
		if m.protocol != Sixel {
			out = append(out, line...)
			continue
		}
		for _, p := range all {
			out, draw = m.blank(out, draw, p, old, y)
		}
	}
	m.mark()
	if m.protocol == Sixel {
		return m.drawSixels(out, draw)
	}
	return append(m.transmit(), append(out, m.free()...)...)
}

// other is what to write for text that is not a frame. When a screen is left its images are freed,
// because they belong to that screen.
func (m *Images) other(text []byte) []byte {
	switch {
	case bytes.Contains(text, []byte(ansi.ResetModeAltScreenSaveCursor)):
		m.rows = nil
		return append(m.free(), text...)
	case bytes.Contains(text, []byte(ansi.EraseEntireScreen)), bytes.Contains(text, []byte(ansi.SetModeAltScreenSaveCursor)):
		m.rows = nil
		clear(m.sent)
	}
	return text
}

// unchanged says whether the renderer has left a line as it was. The last line is followed by a
// cursor position.
func unchanged(line []byte, last bool) bool {
	line = bytes.Trim(line, "\r")
	if !last {
		return len(line) == 0
	}
	line = bytes.TrimPrefix(line, []byte(ansi.EraseScreenBelow))
	if len(line) == 0 {
		return true
	}
	_, width, n, _ := ansi.DecodeSequence(line, ansi.NormalState, nil)
	return width == 0 && n == len(line) && line[n-1] == 'H'
}

// mark notes which images are shown, and whether any of them is unknown.
func (m *Images) mark() {
	for _, row := range m.rows {
		for _, r := range row {
			if k := m.all[r.id]; k != nil {
				k.used = m.frame
			} else {
				m.lost = true
			}
		}
	}
}
