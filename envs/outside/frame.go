package outside

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"pgrlab/core/printable"
)

// Protocol is the version of the protocol.
const Protocol = 1

const (
	headerSize = 12
	maxBody    = 64 << 20 // bytes
)

// kind is what a frame is about.
type kind uint8

const (
	kindHello   kind = 1
	kindSpec    kind = 2
	kindReset   kind = 3
	kindStep    kind = 4
	kindSave    kind = 5
	kindLoad    kind = 6
	kindClose   kind = 7
	kindPicture kind = 8
	kindError   kind = 15
)

var kindNames = map[kind]string{
	kindHello: "hello", kindSpec: "spec", kindReset: "reset", kindStep: "step", kindSave: "save",
	kindLoad: "load", kindClose: "close", kindPicture: "picture", kindError: "error",
}

func (k kind) String() string {
	if name, known := kindNames[k]; known {
		return name
	}
	return fmt.Sprintf("frame of kind %d", uint8(k))
}

// What the flags of a step say.
const (
	flagTerminated = 1 << iota
	flagTruncated
	flagLost
)

var le = binary.LittleEndian

// header is that of a frame.
type header struct {
	length   uint32
	kind     kind
	protocol uint8
	copies   uint16
	sequence uint32
}

func readHeader(b []byte) header {
	return header{le.Uint32(b), kind(b[4]), b[5], le.Uint16(b[6:]), le.Uint32(b[8:])}
}

// appendHeader begins a frame; finish sets its length.
func appendHeader(b []byte, h header) []byte {
	b = le.AppendUint32(b, h.length)
	b = append(b, uint8(h.kind), h.protocol)
	b = le.AppendUint16(b, h.copies)
	return le.AppendUint32(b, h.sequence)
}

func finish(frame []byte) []byte {
	le.PutUint32(frame, uint32(len(frame)-headerSize))
	return frame
}

// wire is the parent's end of a connection.
type wire struct {
	from     *bufio.Reader
	to       io.Writer
	sequence uint32
	frame    []byte // the present request
	body     []byte // of the last reply
}

func newWire(from io.Reader, to io.Writer) wire {
	return wire{from: bufio.NewReaderSize(from, 1<<16), to: to}
}

// request begins a request about that many copies.
func (w *wire) request(k kind, copies int) {
	w.sequence++
	w.frame = appendHeader(w.frame[:0], header{kind: k, protocol: Protocol, copies: uint16(copies), sequence: w.sequence})
}

// exchange sends the request and returns the body of its reply, which is valid until the next one. size is how long
// that must be; negative: any length.
func (w *wire) exchange(size int) ([]byte, error) {
	asked := readHeader(w.frame)
	if len(w.frame)-headerSize > maxBody {
		return nil, fmt.Errorf("a %s of %d bytes does not fit into a frame", asked.kind, len(w.frame)-headerSize)
	}
	if _, err := w.to.Write(finish(w.frame)); err != nil {
		return nil, err
	}
	head, err := w.from.Peek(headerSize)
	if err != nil {
		return nil, w.short(head, err)
	}
	h := readHeader(head)
	if err := w.checkHeader(h, asked, size); err != nil {
		return nil, err
	}
	w.from.Discard(headerSize) // it is buffered
	w.body = slices.Grow(w.body[:0], int(h.length))[:h.length]
	if n, err := io.ReadFull(w.from, w.body); err != nil {
		return nil, fmt.Errorf("the program's reply to %s ended after %d of %d bytes: %w", asked.kind, n, h.length, err)
	}
	if h.kind == kindError {
		return nil, readRefusal(w.body)
	}
	return w.body, nil
}

// short says why there is no header.
func (w *wire) short(got []byte, err error) error {
	if len(got) > 0 && errors.Is(err, io.EOF) {
		return w.garbled(got)
	}
	return err
}

// checkHeader says what is wrong with the header of a reply.
func (w *wire) checkHeader(h, asked header, size int) error {
	want := asked.kind
	if want == kindHello {
		want = kindSpec
	}
	answers := h.kind == want || h.kind == kindError
	switch {
	case h.protocol != Protocol && answers && h.sequence == asked.sequence:
		return fmt.Errorf("it speaks protocol %d, and this pgrlab speaks %d: pgrlab env-adapter writes an adapter that fits", h.protocol, Protocol)
	case h.protocol != Protocol || !answers && h.sequence != asked.sequence:
		garbage, _ := w.from.Peek(min(w.from.Buffered(), 60)) // it is buffered
		return w.garbled(garbage)
	case h.sequence != asked.sequence:
		return fmt.Errorf("the program's reply has sequence %d, want %d: there is one reply to a request, in order", h.sequence, asked.sequence)
	case !answers:
		return fmt.Errorf("the program answered %s with %s", asked.kind, h.kind)
	case h.length > maxBody:
		return fmt.Errorf("the program's reply to %s would have %d bytes: want at most %d", asked.kind, h.length, maxBody)
	case h.kind != kindError && size >= 0 && int(h.length) != size:
		return fmt.Errorf("the program's reply to %s has %d bytes, want %d", asked.kind, h.length, size)
	case h.copies != asked.copies:
		return fmt.Errorf("the program's reply to %s is about %d copies, want %d", asked.kind, h.copies, asked.copies)
	}
	return nil
}

// garbled says that something else than a frame came.
func (w *wire) garbled(got []byte) error {
	return fmt.Errorf("what the program wrote is no frame: %q: if the program prints, let it print to standard error, which the protocol leaves alone", printable.Line(string(got)))
}

// refusal is an error that the program reports.
type refusal struct {
	Text  string `json:"text"`
	Trace string `json:"trace"`
	Fatal bool   `json:"fatal"` // it cannot go on; otherwise only this request failed
}

func readRefusal(body []byte) error {
	r := new(refusal)
	if err := json.Unmarshal(body, r); err != nil || r.Text == "" {
		return fmt.Errorf("the program reported an error that cannot be read: %q", printable.Line(string(body[:min(len(body), 200)])))
	}
	r.Text = printable.Line(r.Text)
	return r
}

func (r *refusal) Error() string { return r.Text }

func appendFloats(b []byte, v []float32) []byte {
	for _, x := range v {
		b = le.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// takeFloats reads len(dst) numbers and returns what follows them.
func takeFloats(b []byte, dst []float32) []byte {
	for i := range dst {
		dst[i] = math.Float32frombits(le.Uint32(b[4*i:]))
	}
	return b[4*len(dst):]
}
