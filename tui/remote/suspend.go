package remote

import (
	"io"
	"sync"
	"time"

	"pgrlab/tui/query"
)

// gate is the terminal of a client as the lab's screen is written to it, which may be closed
// while another program has the terminal.
type gate struct {
	mu   sync.Mutex
	to   io.Writer
	line *query.Line
}

func newGate(to io.Writer) *gate { return &gate{to: to, line: query.NewLine(time.Now)} }

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.line.Sent(p)
	return g.to.Write(p)
}

// closed does something while the lab writes nothing and its terminal has answered all that
// it was asked, as far as it does within a time: whoever has the terminal next would get the
// answers. The lab gets them, also from what was heard last; keys that are pressed meanwhile are for nobody.
func (g *gate) closed(t Terminal, heard []byte, send func(byte, []byte), do func()) {
	for {
		if late := query.OnlyAnswers(append(heard, g.late(t)...)); len(late) > 0 {
			send(frameKeys, late)
		}
		heard = nil
		g.mu.Lock()
		if g.line.Open() == 0 || t.More == nil {
			break
		}
		g.mu.Unlock() // an answer has had the lab ask more
	}
	defer g.mu.Unlock()
	do()
}

// late is what the terminal sends while answers are due.
func (g *gate) late(t Terminal) (all []byte) {
	var buf [256]byte
	for left := g.line.Open(); left > 0 && t.More != nil && t.More(left); left = g.line.Open() {
		n, err := t.Keys.Read(buf[:])
		g.line.Heard(buf[:n])
		all = append(all, buf[:n]...)
		if err != nil {
			break
		}
	}
	return all
}
