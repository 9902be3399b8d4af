package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pgrlab/core/printable"
)

// Entry is one line of a journal, as read.
type Entry struct {
	Type   string
	Step   int
	Member int     // NoMember if the line does not say
	WallS  float64 // 0 if the line does not say
	Number int     // of the line, from 1
	Text   []byte  // the line without its end; valid until the next call
}

// Fields decodes the line into a struct or map. Strings are made safe to display, because
// journals may come from other people.
func (e Entry) Fields(into any) error {
	err := e.Raw(into)
	if bytes.ContainsFunc(e.Text, func(r rune) bool { return r == '\\' || r > '~' || r < ' ' }) {
		printable.Fields(into) // even if it was decoded only in part
	}
	return err
}

// Raw decodes the line as it was written, for values that are not displayed.
func (e Entry) Raw(into any) error {
	if err := json.Unmarshal(e.Text, into); err != nil {
		return fmt.Errorf("journal line %d (%s): %w", e.Number, e.Type, err)
	}
	return nil
}

// maxLine is the largest length of a line in bytes. The longest lines of a run are those of
// its projections, with some hundred bytes a point.
const maxLine = 64 << 20

// lineReader reads lines of bounded length.
type lineReader struct {
	r      *bufio.Reader
	line   []byte
	number int // of the last line, from 1
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line with its newline, which only the last line may lack. It is
// valid until the next call. After the last line the error is io.EOF.
func (r *lineReader) next() ([]byte, error) {
	r.line = r.line[:0]
	r.number++
	for {
		part, err := r.r.ReadSlice('\n')
		if len(r.line)+len(part) > maxLine {
			return nil, fmt.Errorf("line %d is longer than %d MiB: this is no journal of a run", r.number, maxLine>>20)
		}
		r.line = append(r.line, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(r.line) > 0:
			return r.line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Reader reads a journal line by line. A last line that a crash or a full disk
// cut off is skipped; a broken line before the last one is an error.
type Reader struct{ lines *lineReader }

// NewReader reads a journal.
func NewReader(r io.Reader) *Reader { return &Reader{newLineReader(r)} }

// Next returns the next line; after the last one the error is io.EOF.
func (r *Reader) Next() (Entry, error) {
	for {
		line, err := r.lines.next()
		if errors.Is(err, io.EOF) {
			return Entry{}, err
		}
		if err != nil {
			return Entry{}, fmt.Errorf("read journal: %w", err)
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		e, err := parseEntry(text)
		if err != nil && r.atEnd() {
			return Entry{}, io.EOF
		}
		if err != nil {
			return Entry{}, fmt.Errorf("journal line %d: %w", r.lines.number, err)
		}
		e.Number = r.lines.number
		return e, nil
	}
}

// atEnd says whether nothing follows.
func (r *Reader) atEnd() bool {
	_, err := r.lines.r.Peek(1)
	return err != nil
}

func parseEntry(text []byte) (Entry, error) {
	head := struct {
		Type   *string `json:"type"`
		Step   *int    `json:"step"`
		Member *int    `json:"member"`
		WallS  Float   `json:"wall_s"`
	}{}
	if err := json.Unmarshal(text, &head); err != nil {
		return Entry{}, errors.New("it is no line of a journal, or it is damaged")
	}
	if head.Type == nil || head.Step == nil {
		return Entry{}, errors.New("no type or no step")
	}
	e := Entry{Type: printable.Line(*head.Type), Step: *head.Step, Member: NoMember, WallS: float64(head.WallS), Text: text}
	if head.Member != nil {
		e.Member = *head.Member
	}
	return e, nil
}
