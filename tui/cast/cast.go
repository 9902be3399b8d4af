// Package cast writes what a terminal showed as an asciicast of version 2, which players show on web pages
// and in terminals (asciinema/asciinema: doc/asciicast-v2.md): a line with a header, then a line for each
// piece of output with its time in seconds.
package cast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Header says what was recorded.
type Header struct {
	Width, Height int // of the terminal, in columns and lines
	Title         string
	Begun         time.Time
}

// Writer writes a cast of whole frames. A frame costs as much as its lines that differ from the one before.
type Writer struct {
	w     io.Writer
	shown []string // lines, as last written
}

// The sequences of ECMA-48 and of xterm that are used beside those of the frames. A line is erased before
// it is written: after its last column is written, erasing what is right of the cursor would take that away.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	erase      = "\x1b[2J"
	eraseLine  = "\x1b[2K"
)

// NewWriter begins a cast.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	c := &Writer{w: w}
	head := struct {
		Version   int               `json:"version"`
		Width     int               `json:"width"`
		Height    int               `json:"height"`
		Timestamp int64             `json:"timestamp"`
		Title     string            `json:"title,omitempty"`
		Env       map[string]string `json:"env"`
	}{2, h.Width, h.Height, h.Begun.Unix(), h.Title, map[string]string{"TERM": "xterm-256color"}}
	return c, c.line(head)
}

// Frame shows lines of text with escape sequences for their styles, each of which ends in the usual style,
// from a time on after the beginning. Times do not decrease.
func (c *Writer) Frame(at time.Duration, frame string) error {
	lines := strings.Split(frame, "\n")
	var out strings.Builder
	if len(lines) != len(c.shown) {
		c.shown = make([]string, len(lines))
		out.WriteString(hideCursor + erase)
	}
	for i, line := range lines {
		if line != c.shown[i] {
			fmt.Fprintf(&out, "\x1b[%d;1H%s%s", i+1, eraseLine, line)
			c.shown[i] = line
		}
	}
	if out.Len() == 0 {
		return nil
	}
	return c.output(at, out.String())
}

// End ends the cast. The last frame is shown until then.
func (c *Writer) End(at time.Duration) error { return c.output(at, showCursor) }

func (c *Writer) output(at time.Duration, text string) error {
	return c.line([]any{at.Seconds(), "o", text})
}

// line writes a value as a line of JSON.
func (c *Writer) line(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write cast: %w", err)
	}
	if _, err := c.w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write cast: %w", err)
	}
	return nil
}
