package remote

import (
	"io"
	"sync"
	"time"

	"pgrlab/tui/query"
)

// gate is a client's terminal, to which the lab's screen is written. It can be closed while another
// program has the terminal.
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

// closed calls do while the lab writes nothing and the terminal has answered all questions, as far
// as it does so in time: the next program on the terminal would get the answers. closed sends the
// answers to the lab, including those in got; keys pressed meanwhile are dropped.
func (g *gate) closed(t Terminal, got []byte, send func(byte, []byte), do func()) {
	for {
		if late := query.OnlyAnswers(append(got, g.late(t)...)); len(late) > 0 {
			send(frameKeys, late)
		}
		got = nil
		g.mu.Lock()
		if g.line.Open() == 0 || t.More == nil {
			break
		}
		g.mu.Unlock() // the answer made the lab ask more
	}
	defer g.mu.Unlock()
	do()
}

// late returns what the terminal sends while answers are due.
func (g *gate) late(t Terminal) (all []byte) {
	var buf [256]byte
	for left := g.line.Open(); left > 0 && t.More != nil && t.More(left); left = g.line.Open() {
		n, err := t.Keys.Read(buf[:])
		g.line.Received(buf[:n])
		all = append(all, buf[:n]...)
		if err != nil {
			break
		}
	}
	return all
}
