package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"pgrlab/core/event"
)

// linesAtOnce is how many lines of input are taken between two looks at the run, so that endless input does
// not keep a core busy.
const linesAtOnce = 16

// leavable says whether the end of the input may leave now.
func (p *plain) leavable() bool {
	plays := p.About.Replay && p.Snap != nil && p.Snap.State == event.Running
	return p.Lab != nil && (p.person || !plays)
}

// overWithRun says whether the lines end because the run has: without a person nothing is left to be done,
// whether or not the input stays open. A person is told that these lines wait. Those of a run in another
// process are ended by that process.
func (p *plain) overWithRun() bool {
	if p.waits || p.Lab == nil || !p.Ended() || p.About.Remote {
		return false
	}
	if p.waits = p.person; p.waits {
		fmt.Fprintln(p.out, "the run has ended; this waits for commands: quit leaves")
	}
	return !p.person
}

// longestLine is the longest line of input in bytes, which is far beyond what anybody types.
const longestLine = 64 << 10

// errLongLine refuses a longer one: without its end it would pass for the whole.
var errLongLine = fmt.Errorf("a line of more than %d KiB was left out: commands are shorter", longestLine>>10)

// input is a line of input, or the reason why it was left out.
type input struct {
	text string
	err  error
}

// readLines delivers the lines of in and closes the channel at the end.
func readLines(ctx context.Context, in io.Reader) <-chan input {
	out := make(chan input)
	go func() {
		defer close(out)
		r := bufio.NewReaderSize(in, longestLine)
		for {
			line, more, err := r.ReadLine()
			if err != nil {
				return
			}
			next := input{text: string(line)}
			for ; more && err == nil; _, more, err = r.ReadLine() {
				next = input{err: errLongLine}
			}
			select {
			case out <- next:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
