package remote

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"pgrlab/tui"
	"pgrlab/tui/theme"
)

// protocol is the version of the protocol on the socket.
const protocol = 1

// The kinds of frames.
const (
	frameHello  = 'h' // client: a hello, the first frame
	frameKeys   = 'k' // client: input from the keyboard
	frameSize   = 's' // client: columns and rows, 2 bytes each
	frameOutput = 'o' // lab: output for the terminal
	frameAnswer = 'a' // lab: an answer, the last frame
)

// maxFrame is the largest content of a frame, in bytes.
const maxFrame = 1 << 20

// What a client may want, besides requests.
const (
	wantScreen = "screen"
	wantWatch  = "watch" // a screen that may not drive
)

// hello begins a connection: it says what is wanted, and by whom.
type hello struct {
	Protocol int    `json:"protocol"`
	Want     string `json:"want"` // wantScreen, wantWatch, or a request
	Name     string `json:"name"` // who asks, for people to read
	// For screens.
	Size       tui.Size           `json:"size"`
	Environ    map[string]string  `json:"environ,omitempty"`
	Characters theme.CharacterSet `json:"characters,omitempty"`
	Plain      bool               `json:"plain,omitempty"`
	Guest      bool               `json:"guest,omitempty"`   // the person has no account here, only a key for screens
	Follows    bool               `json:"follows,omitempty"` // if the run moves to another process, the client connects to that one
	Seen       int                `json:"seen,omitempty"`    // lines up to this env step are on the terminal already
}

// answer ends a connection.
type answer struct {
	Error  string  `json:"error,omitempty"`
	Said   string  `json:"said,omitempty"`  // one line for the person
	Ended  bool    `json:"ended,omitempty"` // the run that the screen shows is over
	Moved  bool    `json:"moved,omitempty"` // it goes on in another process; the terminal is as the last frame left it
	Step   int     `json:"step,omitempty"`  // where that was
	Status *Status `json:"status,omitempty"`
}

// writeFrame writes a frame in one write: kind, length (4 bytes, little endian), content.
func writeFrame(w io.Writer, kind byte, content []byte) error {
	if len(content) > maxFrame {
		return fmt.Errorf("a frame of %d bytes", len(content))
	}
	b := make([]byte, 0, 5+len(content))
	b = binary.LittleEndian.AppendUint32(append(b, kind), uint32(len(content)))
	_, err := w.Write(append(b, content...))
	return err
}

func writeJSON(w io.Writer, kind byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, kind, text)
}

// readFrame reads a frame; it reads the content into buf if buf is large enough.
func readFrame(r io.Reader, buf []byte) (kind byte, content []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, errors.New("it does not speak pgrlab's protocol")
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	content = buf[:n]
	_, err = io.ReadFull(r, content)
	return head[0], content, err
}

// output writes a screen's output as frames, except while it is mute.
type output struct {
	to   io.Writer
	mute func() bool
}

func (o output) Write(p []byte) (int, error) {
	if o.mute() {
		return len(p), nil
	}
	done := 0
	for done < len(p) {
		n := min(len(p)-done, maxFrame)
		if err := writeFrame(o.to, frameOutput, p[done:done+n]); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// sizeBytes and parseSize convert the content of a size frame.
func sizeBytes(s tui.Size) []byte {
	limit := func(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, limit(s.Columns)), limit(s.Rows))
}

// maxColumns and maxRows are the largest screen that is drawn, whatever a client claims: a little
// more than the smallest letters on the largest displays. Drawing costs memory and time of the
// process that trains.
const (
	maxColumns = 600
	maxRows    = 250
)

func parseSize(b []byte) (tui.Size, bool) {
	if len(b) != 4 {
		return tui.Size{}, false
	}
	return limited(tui.Size{Columns: int(binary.LittleEndian.Uint16(b)), Rows: int(binary.LittleEndian.Uint16(b[2:]))}), true
}

// limited is a size limited to maxColumns and maxRows.
func limited(s tui.Size) tui.Size {
	return tui.Size{Columns: min(max(s.Columns, 0), maxColumns), Rows: min(max(s.Rows, 0), maxRows)}
}
