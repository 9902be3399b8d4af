package query

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// The questions, each followed by DA1.
const (
	xtversion = "\x1b[>0q" + da1
	sizes     = "\x1b[16t" + "\x1b[?1;1;0S" // the size of a cell; how many colours sixels have (XTSMGRAPHICS)
	da1       = ansi.RequestPrimaryDeviceAttributes
)

// pixel is kitty's question: an image of one pixel, which is not shown.
var pixel = ansi.KittyGraphics([]byte("AAAA"), "i=31", "s=1", "v=1", "a=q", "t=d", "f=24")

// Patience is how long after the last question to wait for an answer before the terminal is given
// back: a later answer would be typed into the shell.
const Patience = time.Second

// Asker asks one terminal. Ask and Keys run on goroutines of their own. A nil Asker asks nothing
// and leaves keys alone.
type Asker struct {
	mu      sync.Mutex
	now     func() time.Time
	asked   time.Time     // when the last question was asked
	due     chan struct{} // closed when the question's last answer has come; nil: none is due
	resting bool          // no question may be asked
	awake   chan struct{} // closed by the next Wake
	answers Answers
	held    []byte // the beginning of an answer whose rest is missing

	patience time.Duration
}

// New is an Asker that has not asked yet; now is the clock, patience usually Patience.
func New(now func() time.Time, patience time.Duration) *Asker {
	return &Asker{now: now, awake: make(chan struct{}), patience: patience}
}

// Ask asks the terminal behind w and waits for its answers until ctx ends.
func (a *Asker) Ask(ctx context.Context, w io.Writer) (Answers, error) {
	got, err := a.ask(ctx, w, xtversion)
	if err != nil || !got.worthAsking() {
		return got, err
	}
	second := sizes + da1
	if got.placeholders() {
		second = pixel + second
	}
	return a.ask(ctx, w, second)
}

// ask asks a question, and asks it again if another program has had the terminal since: that
// program may have got the answer.
func (a *Asker) ask(ctx context.Context, w io.Writer, question string) (Answers, error) {
	for {
		due, awake := a.begin()
		if due != nil {
			if _, err := io.WriteString(w, question); err != nil {
				return Answers{}, err
			}
		}
		select {
		case <-due:
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.answers, nil
		case <-awake:
		case <-ctx.Done():
			return Answers{}, ctx.Err()
		}
	}
}

// begin returns two channels: due closes at the end of a question that may be asked now (nil: none
// may), awake at the end of the next rest.
func (a *Asker) begin() (due, awake chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.resting {
		due = make(chan struct{})
		a.asked, a.due = a.now(), due
	}
	return due, a.awake
}

// Rest holds questions back until Wake while another program has the terminal: that program would
// get the answers. Rest waits until no answer is due, for Patience at most, and says whether it is
// the first call since Wake.
func (a *Asker) Rest() (first bool) {
	if a == nil {
		return true
	}
	a.mu.Lock()
	first, a.resting = !a.resting, true
	a.mu.Unlock()
	patience := time.NewTimer(a.Open())
	defer patience.Stop()
	select {
	case <-a.Answered():
	case <-patience.C:
	}
	return first
}

// Wake lets questions through again. Those not answered by then are asked again.
func (a *Asker) Wake() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.resting {
		return
	}
	close(a.awake)
	a.resting, a.awake, a.held = false, make(chan struct{}), nil
}

// Open is how much longer to wait for an answer; 0: none is due.
func (a *Asker) Open() time.Duration {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due == nil {
		return 0
	}
	return max(0, a.patience-a.now().Sub(a.asked))
}

// Answered is closed when no answer is due any more.
func (a *Asker) Answered() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due != nil {
		return a.due
	}
	answered := make(chan struct{})
	close(answered)
	return answered
}

// Keys removes the answers from what a terminal has sent, and moves what was typed to the beginning
// of p: n bytes.
func (a *Asker) Keys(p []byte) (n int) {
	if a == nil {
		return len(p)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all := append(a.held, p...)
	a.held = nil
	for len(all) > 0 {
		at := answer.FindIndex(all)
		if at == nil {
			break
		}
		n += copy(p[n:], all[:at[0]])
		a.take(string(all[at[0]:at[1]]))
		all = all[at[1]:]
	}
	if at := begun.FindIndex(all); at != nil && len(all)-at[0] <= longest {
		a.held = append(a.held, all[at[0]:]...)
		all = all[:at[0]]
	}
	return n + copy(p[n:], all)
}

// take notes an answer.
func (a *Asker) take(text string) {
	if a.answers.take(text) && a.due != nil {
		close(a.due)
		a.due = nil
	}
}
