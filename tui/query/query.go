package query

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Questions, each with DA1 behind it.
const (
	who   = "\x1b[>0q" + da1
	sizes = "\x1b[16t" + "\x1b[?1;1;0S" // of a cell; how many colours sixels have (XTSMGRAPHICS)
	da1   = ansi.RequestPrimaryDeviceAttributes
)

// pixel is kitty's question: an image of one pixel, which is not shown.
var pixel = ansi.KittyGraphics([]byte("AAAA"), "i=31", "s=1", "v=1", "a=q", "t=d", "f=24")

// Patience is how long after the last question an answer is waited for when the terminal is
// given back: what came later would be typed into the shell.
const Patience = time.Second

// Asker asks one terminal. Ask and Keys run on goroutines of their own. nil has nothing to
// ask, and leaves keys alone.
type Asker struct {
	mu      sync.Mutex
	now     func() time.Time
	asked   time.Time     // the last question
	due     chan struct{} // closed when its end has come; nil: there is none
	resting bool          // nothing is asked
	awake   chan struct{} // closed by the next Wake
	answers Answers
	held    []byte // the beginning of an answer

	patience time.Duration
}

// New has not asked yet; now is the clock.
func New(now func() time.Time) *Asker {
	return &Asker{now: now, awake: make(chan struct{}), patience: Patience}
}

// Ask asks the terminal behind w, and waits for its answers until ctx ends.
func (a *Asker) Ask(ctx context.Context, w io.Writer) (Answers, error) {
	got, err := a.ask(ctx, w, who)
	if err != nil || !got.worthAsking() {
		return got, err
	}
	second := sizes + da1
	if got.placeholders() {
		second = pixel + second
	}
	return a.ask(ctx, w, second)
}

// ask asks once, and again where another has had the terminal since, who may have got the
// answer.
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

// begin is the end of a question that may be asked now, nil: none may, and the end of the
// next rest.
func (a *Asker) begin() (due, awake chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.resting {
		due = make(chan struct{})
		a.asked, a.due = a.now(), due
	}
	return due, a.awake
}

// Rest keeps questions back until Wake, for a terminal that another is to have: who has it
// gets the answers. It waits until no answer is due, as long as Patience at most, and says
// whether it is the first since Wake.
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

// Wake lets questions through again. What is not answered by then is asked again.
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

// Open is how much longer an answer is to be waited for; 0: none is due.
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

// Keys takes the answers out of what a terminal has sent, and leaves what was typed at the
// beginning of p: n bytes.
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
