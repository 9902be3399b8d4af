package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// observed holds the types of lines that say how a run went, not what it computed.
var observed = map[string]bool{
	"pause": true, "resume": true, "checkpoint": true, "perf": true, "detached": true, "attached": true,
	"planned": true, "cancelled": true, "device": true, "fork": true, "fork_look": true, "ground": true,
}

// onDemand says whether a line answers a request to see something: the field on_demand
// of its obs is true.
func onDemand(e Entry) bool {
	if !bytes.Contains(e.Text, []byte(`"on_demand":true`)) {
		return false
	}
	var line struct {
		Obs struct {
			OnDemand bool `json:"on_demand"`
		} `json:"obs"`
	}
	return json.Unmarshal(e.Text, &line) == nil && line.Obs.OnDemand
}

// Canonical writes the deterministic part of a journal: without wall_s, without
// any object "obs", without lines of the types pause, resume, checkpoint, perf,
// detached, attached, planned, cancelled, device, fork, fork_look and ground, and without answers to requests to see something.
// Fields keep their order and numbers their digits.
func Canonical(r io.Reader, w io.Writer) error {
	c := canonicalReader{lines: NewReader(r)}
	out := bufio.NewWriter(w)
	for {
		line, err := c.next()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			out.Flush()
			return err
		}
		out.Write(line)
		if err := out.WriteByte('\n'); err != nil {
			return fmt.Errorf("write canonical journal: %w", err)
		}
	}
}

// Diff compares the deterministic parts of two journals. If they differ, line is the
// number of the first canonical line that differs, and da and db are that line of each
// journal; "" if the journal has ended.
func Diff(a, b io.Reader) (line int, da, db string, same bool, err error) {
	ra, rb := canonicalReader{lines: NewReader(a)}, canonicalReader{lines: NewReader(b)}
	for line = 1; ; line++ {
		la, ea := ra.next()
		lb, eb := rb.next()
		for i, e := range []error{ea, eb} {
			if e != nil && !errors.Is(e, io.EOF) {
				return line, "", "", false, fmt.Errorf("journal %c: %w", 'A'+rune(i), e)
			}
		}
		if ea != nil && eb != nil {
			return 0, "", "", true, nil
		}
		if !bytes.Equal(la, lb) {
			return line, string(la), string(lb), false, nil
		}
	}
}

type canonicalReader struct{ lines *Reader }

// next is the canonical form of the next line that has one.
func (c canonicalReader) next() ([]byte, error) {
	for {
		e, err := c.lines.Next()
		if err != nil {
			return nil, err
		}
		if observed[e.Type] || onDemand(e) {
			continue
		}
		var b bytes.Buffer
		c := copier{in: json.NewDecoder(bytes.NewReader(e.Text)), out: &b}
		c.in.UseNumber() // keeps the digits
		if err := c.line(); err != nil {
			return nil, fmt.Errorf("journal line %d: %w", e.Number, err)
		}
		return b.Bytes(), nil
	}
}

// copier copies JSON token by token and leaves out what is observed.
type copier struct {
	in  *json.Decoder
	out *bytes.Buffer
}

// line copies a line without its field wall_s.
func (c copier) line() error {
	if _, err := c.in.Token(); err != nil { // {
		return err
	}
	return c.object("wall_s")
}

// object copies the rest of an object, except the field drop and a field obs that is
// an object.
func (c copier) object(drop string) error {
	c.out.WriteByte('{')
	before := c.out.Len()
	for c.in.More() {
		start := c.out.Len()
		if start > before {
			c.out.WriteByte(',')
		}
		name, err := c.in.Token()
		if err != nil {
			return err
		}
		key, err := encode(name)
		if err != nil {
			return err
		}
		c.out.Write(key)
		c.out.WriteByte(':')
		token, err := c.in.Token()
		if err != nil {
			return err
		}
		if err := c.value(token); err != nil {
			return err
		}
		if name == drop || name == "obs" && token == json.Delim('{') {
			c.out.Truncate(start)
		}
	}
	return c.end('}')
}

func (c copier) array() error {
	c.out.WriteByte('[')
	for first := true; c.in.More(); first = false {
		if !first {
			c.out.WriteByte(',')
		}
		token, err := c.in.Token()
		if err != nil {
			return err
		}
		if err := c.value(token); err != nil {
			return err
		}
	}
	return c.end(']')
}

// value copies the value that begins with token.
func (c copier) value(token json.Token) error {
	switch token {
	case json.Delim('{'):
		return c.object("")
	case json.Delim('['):
		return c.array()
	}
	text, err := encode(token)
	c.out.Write(text)
	return err
}

func (c copier) end(close byte) error {
	_, err := c.in.Token()
	c.out.WriteByte(close)
	return err
}
