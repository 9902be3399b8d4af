package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"pgrlab/core/printable"

	"pgrlab/core/run/files"
	"pgrlab/core/version"
)

// FormatVersion is the version of the checkpoint format that this program writes and reads. It says of all
// sections how they are written.
const FormatVersion = 3

// checkpointMagic begins every checkpoint. Then follow, little-endian, the version
// of the format (uint32), the length of the header (uint32), the header (JSON), the
// SHA-256 of everything so far, and all sections, concatenated as one zstd stream.
const checkpointMagic = "PGRLABCK"

const (
	preamble  = len(checkpointMagic) + 8
	maxHeader = 1 << 24 // bounds what a broken file can make Read allocate
)

// ErrNewer: a checkpoint, or packed runs, of a newer version of the program.
var ErrNewer = errors.New("was written by a newer version of pgrlab")

// Header says what a checkpoint is, without loading it.
type Header struct {
	Program  string `json:"program"`          // version of the program that wrote it
	Config   string `json:"config"`           // SHA-256 of the run's config.toml
	Device   string `json:"device"`           // kind and kernels
	Time     string `json:"time"`             // when it was taken, RFC 3339
	Step     int    `json:"step"`             // env steps made
	Position string `json:"position"`         // the exact position
	Ended    bool   `json:"ended,omitempty"`  // it holds results of the end of its run, so a longer run has to go on from an earlier one
	WallS    Float  `json:"wall_s"`           // seconds of the run so far
	Return   *Float `json:"return,omitempty"` // return of the last evaluation, mean over members
	Journal  Mark   `json:"journal"`          // the journal up to there

	Data     []Data `json:"data"`     // files that checkpoints share
	Sections []Part `json:"sections"` // sections in the file itself
}

// Mark is a place in a journal: the number of bytes before it and their SHA-256.
type Mark struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Part is a section of a checkpoint.
type Part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"` // before compression
	SHA256 string `json:"sha256"`
}

// Section is a part with its content.
type Section struct {
	Name    string
	Content []byte
}

// Checkpoint is the complete state of a run at one position.
type Checkpoint struct {
	Header
	Sections []Section
}

// Section is the content of the section of that name; false if there is none.
func (c *Checkpoint) Section(name string) ([]byte, bool) {
	for _, s := range c.Sections {
		if s.Name == name {
			return s.Content, true
		}
	}
	return nil, false
}

// WriteTo writes c. The header's list of sections is made from c.Sections.
func (c *Checkpoint) WriteTo(w io.Writer) (int64, error) {
	h := c.Header
	h.Sections = nil
	for _, s := range c.Sections {
		h.Sections = append(h.Sections, Part{s.Name, int64(len(s.Content)), digest(s.Content)})
	}
	text, err := json.Marshal(h)
	if err != nil {
		return 0, err
	}
	out := &counter{w: w}
	if _, err := out.Write(headOf(checkpointMagic, FormatVersion, text)); err != nil {
		return out.n, err
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return out.n, err
	}
	for _, s := range c.Sections {
		if _, err := z.Write(s.Content); err != nil {
			z.Close()
			return out.n, err
		}
	}
	return out.n, z.Close()
}

// headOf is the beginning of a file: magic, version, length of the header, the header, their SHA-256.
func headOf(magic string, version uint32, header []byte) []byte {
	head := binary.LittleEndian.AppendUint32([]byte(magic), version)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(header)))
	head = append(head, header...)
	sum := sha256.Sum256(head)
	return append(head, sum[:]...)
}

// readHead returns the header of a file that begins as headOf writes it, if it has that version. Errors call
// the file what.
func readHead(r io.Reader, magic string, want uint32, what string) ([]byte, error) {
	head := make([]byte, preamble)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("is not a whole %s", what)
	}
	if string(head[:len(magic)]) != magic {
		return nil, fmt.Errorf("is not a %s", what)
	}
	format := binary.LittleEndian.Uint32(head[len(magic):])
	size := binary.LittleEndian.Uint32(head[len(magic)+4:])
	if size > maxHeader {
		return nil, errors.New("is damaged: its header is too long")
	}
	var rest bytes.Buffer // grows with the bytes that are there, whatever size claims
	if n, _ := io.CopyN(&rest, r, int64(size)+sha256.Size); n < int64(size)+sha256.Size {
		return nil, fmt.Errorf("is not a whole %s", what)
	}
	text, sum := rest.Bytes()[:size], rest.Bytes()[size:]
	if right := sha256.Sum256(append(head, text...)); !bytes.Equal(sum, right[:]) {
		return nil, errors.New("is damaged: the checksum of its header is wrong")
	}
	switch {
	case format > want:
		return nil, fmt.Errorf("%w (format %d, this one reads %d)", ErrNewer, format, want)
	case format < want:
		return nil, fmt.Errorf("was %w (format %d, this one reads %d)", version.ErrOther, format, want)
	}
	return text, nil
}

// ReadHeader reads the header alone.
func ReadHeader(r io.Reader) (Header, error) {
	var h Header
	text, err := readHead(r, checkpointMagic, FormatVersion, "checkpoint")
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("is damaged: its header: %w", err)
	}
	printable.Fields(&h)
	return h, h.validate()
}

// validate returns an error for values that no checkpoint can have: a correct checksum can
// be made for anything.
func (h *Header) validate() error {
	if h.Step < 0 || h.Journal.Size < 0 {
		return fmt.Errorf("is damaged: its header: step %d and %d bytes of a journal", h.Step, h.Journal.Size)
	}
	if w := float64(h.WallS); !(w >= 0 && w <= longestRun) {
		return fmt.Errorf("is damaged: its header: %g seconds of run", w)
	}
	for _, p := range h.Sections {
		if p.Bytes < 0 {
			return fmt.Errorf("is damaged: section %s has no size", p.Name)
		}
	}
	for _, d := range h.Data {
		for _, p := range d.Pieces {
			if p.Bytes < 0 {
				return fmt.Errorf("is damaged: %s of %s has no size", p.File, d.Name)
			}
		}
	}
	return nil
}

// longestRun is longer than any run takes and shorter than the longest time.Duration, in
// seconds.
const longestRun = 9e9

// Limit is how much a checkpoint can hold, in bytes before compression. Content that is
// larger than its run can have made is not unpacked.
type Limit int64

// check returns an error if the sections together are larger than the limit.
func (l Limit) check(sections []Part) error {
	left := int64(l)
	for _, p := range sections {
		if p.Bytes > left {
			return fmt.Errorf("is damaged: section %s claims %d bytes, which this run cannot have made (at most %d in all)", p.Name, p.Bytes, int64(l))
		}
		left -= p.Bytes
	}
	return nil
}

// Check returns an error if d, which checkpoints share, claims more than the limit. Only
// compressed files count: other files cannot yield more bytes than they have.
func (l Limit) Check(d Data) error {
	left := int64(l)
	for _, p := range d.Pieces {
		if filepath.Ext(p.File) != compressed {
			continue
		}
		if p.Bytes > left {
			return fmt.Errorf("is damaged: %s claims %d bytes, which this run cannot have made (at most %d)", p.File, p.Bytes, int64(l))
		}
		left -= p.Bytes
	}
	return nil
}

// maxWindow is the memory for unpacking, in bytes: more than the output of WriteTo needs.
const maxWindow = 64 << 20

// unpack returns a reader of zstd data whose memory does not depend on what r claims.
func unpack(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
}

// ReadCheckpoint reads and verifies a whole checkpoint.
func ReadCheckpoint(r io.Reader, limit Limit) (*Checkpoint, error) {
	h, err := ReadHeader(r)
	if err == nil {
		err = limit.check(h.Sections)
	}
	if err != nil {
		return nil, err
	}
	z, err := unpack(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	c := &Checkpoint{Header: h}
	for _, p := range h.Sections {
		var b bytes.Buffer
		if _, err := io.CopyN(&b, z, p.Bytes); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, fmt.Errorf("is cut off in section %s", p.Name)
			}
			return nil, fmt.Errorf("is damaged: section %s: %w", p.Name, err)
		}
		if digest(b.Bytes()) != p.SHA256 {
			return nil, fmt.Errorf("is damaged: the checksum of section %s is wrong", p.Name)
		}
		c.Sections = append(c.Sections, Section{p.Name, b.Bytes()})
	}
	if n, err := io.CopyN(io.Discard, z, 1); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.New("is damaged: something follows its last section")
	}
	return c, nil
}

// LoadCheckpoint reads and verifies the checkpoint in a file.
func LoadCheckpoint(path string, limit Limit) (*Checkpoint, error) {
	f, err := files.Open(filepath.Split(path))
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	return ReadCheckpoint(f, limit)
}

func loadHeader(root *files.Root, name string) (Header, error) {
	f, err := root.Open(name)
	if err != nil {
		return Header{}, reason(err)
	}
	defer f.Close()
	return ReadHeader(f)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// counter counts the bytes that are written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
