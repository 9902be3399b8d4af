package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// observed are the types of lines that say how a run went, not what it computed.
var observed = map[string]bool{
	"pause": true, "resume": true, "checkpoint": true, "perf": true, "detached": true, "attached": true,
}

// Canonical writes the deterministic part of a journal: without wall_s, without
// any object "obs", without lines of the types pause, resume, checkpoint, perf,
// detached and attached. Fields keep their order, numbers their digits.
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

// Diff compares the deterministic parts of two journals. Where they differ, line
// is the number of the first canonical line that does, and da and db are that
// line of each; "" where a journal has ended.
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
		if observed[e.Type] {
			continue
		}
		var b bytes.Buffer
		d := json.NewDecoder(bytes.NewReader(e.Text))
		d.UseNumber()
		if err := copyObject(&b, d, "wall_s"); err != nil {
			return nil, fmt.Errorf("journal line %d: %w", e.Number, err)
		}
		return b.Bytes(), nil
	}
}

// copyObject copies an object without the fields obs (where it is an object) and
// drop.
func copyObject(b *bytes.Buffer, d *json.Decoder, drop string) error {
	if _, err := d.Token(); err != nil { // {
		return err
	}
	b.WriteByte('{')
	first := true
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		name := token.(string)
		if name == drop || name == "obs" && value[0] == '{' {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		b.Write(key)
		b.WriteByte(':')
		if err := copyValue(b, value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// copyValue copies a value; objects in it lose their obs, wherever they are.
func copyValue(b *bytes.Buffer, value json.RawMessage) error {
	switch value[0] {
	case '{':
		return copyObject(b, json.NewDecoder(bytes.NewReader(value)), "")
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(value, &items); err != nil {
			return err
		}
		b.WriteByte('[')
		for i, item := range items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := copyValue(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	b.Write(value)
	return nil
}
