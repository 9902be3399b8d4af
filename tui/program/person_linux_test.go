package program

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/knob"
	"pgrlab/core/testing/pace"
	"pgrlab/tui/testing/pty"
)

// person is someone at a terminal of 160 by 45 on which the program runs in a process of its own.
type person struct {
	t        *testing.T
	terminal *os.File
	command  *exec.Cmd
	ended    chan struct{}
	drained  chan struct{} // closed when everything that the program wrote has been read

	mu    sync.Mutex
	text  []byte        // what has come since the person looked last
	bytes int           // bytes since the beginning
	last  time.Time     // when something came last
	more  chan struct{} // closed and replaced when something comes
	pace  int           // bytes a second that the line carries; 0: any number
	stall chan struct{} // nothing is read until it is closed; nil: everything is read
}

// sitDown runs a command line of the program on a terminal, with an empty home.
func sitDown(t *testing.T, environment []string, args ...string) *person {
	t.Helper()
	return sitDownAt(t, environment, os.Args[0], args...)
}

// sitDownAt is sitDown for another program, from which this one can be started.
func sitDownAt(t *testing.T, environment []string, name string, args ...string) *person {
	t.Helper()
	terminal, program, err := pty.Open(160, 45)
	if err != nil {
		t.Skip(err)
	}
	defer program.Close()
	p := &person{t: t, terminal: terminal, ended: make(chan struct{}), drained: make(chan struct{}), more: make(chan struct{})}
	p.command = exec.Command(name, args...)
	p.command.Stdin, p.command.Stdout, p.command.Stderr = program, program, program
	home, _ := filepath.Abs("home")
	p.command.Env = append(os.Environ(), append([]string{childVariable + "=1", "TERM=xterm-256color", "LC_ALL=C.UTF-8", "HOME=" + home, "XDG_CONFIG_HOME=" + home}, environment...)...)
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read()
	go func() {
		defer close(p.ended)
		p.command.Wait()
	}()
	t.Cleanup(p.leave)
	return p
}

// A program that needs a terminal's colours asks for them and for the position of the
// cursor. Every terminal answers the second question; without that answer the program waits five
// seconds for the first.
const (
	whereIsTheCursor = "\x1b[6n"
	cursorIsAtHome   = "\x1b[1;1R"
)

// read reads what the program writes, as fast as the line carries it.
func (p *person) read() {
	defer close(p.drained)
	buf := make([]byte, 512)
	var question []byte // the end of the text read so far, which may begin a question
	for {
		p.mu.Lock()
		stall, pace := p.stall, p.pace
		p.mu.Unlock()
		if stall != nil {
			<-stall
		}
		n, err := p.terminal.Read(buf)
		if err != nil {
			return
		}
		question = append(question[max(0, len(question)-len(whereIsTheCursor)+1):], buf[:n]...)
		if at := bytes.LastIndex(question, []byte(whereIsTheCursor)); at >= 0 {
			p.terminal.WriteString(cursorIsAtHome)
			question = question[at+len(whereIsTheCursor):]
		}
		p.mu.Lock()
		p.text = append(p.text, buf[:n]...)
		p.bytes += n
		p.last = time.Now()
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
		if pace > 0 {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(pace)) // a slow line
		}
	}
}

// forget drops what has been shown so far.
func (p *person) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = p.text[:0]
}

// await waits until text has been shown since the last call of forget, and returns when.
func (p *person) await(text string) time.Time {
	p.t.Helper()
	limit := time.After(5 * time.Minute) // other programs may delay this one
	for {
		pace.Look()
		p.mu.Lock()
		found, when, more := bytes.Contains(p.text, []byte(text)), p.last, p.more
		shown := string(p.text[max(0, len(p.text)-4000):])
		p.mu.Unlock()
		if found {
			return when
		}
		select {
		case <-more:
		case <-p.drained:
			p.mu.Lock()
			found := bytes.Contains(p.text, []byte(text))
			p.mu.Unlock()
			if found {
				return when
			}
			p.t.Fatalf("the program ended before it showed %q:\n%s", text, shown)
		case <-limit:
			p.t.Fatalf("no %q on the terminal:\n%s", text, shown)
		}
	}
}

// frames waits until so many frames have been shown since the last call of forget, and returns what
// was written up to their end.
func (p *person) frames(n int) string {
	p.t.Helper()
	const end = "\x1b[?2026l"
	limit := time.After(5 * time.Minute)
	for {
		p.mu.Lock()
		parts, more := strings.SplitAfterN(string(p.text), end, n+1), p.more
		p.mu.Unlock()
		if len(parts) > n {
			return strings.Join(parts[:n], "")
		}
		select {
		case <-more:
		case <-p.drained:
			p.t.Fatalf("the program ended before it had shown %d frames", n)
		case <-limit:
			p.t.Fatalf("%d frames instead of %d", len(parts)-1, n)
		}
	}
}

// press types keys and waits until text is shown; it returns how long that took.
func (p *person) press(keys, text string) time.Duration {
	p.t.Helper()
	p.forget()
	begin := time.Now()
	if _, err := p.terminal.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
	return p.await(text).Sub(begin)
}

// count watches for a time, or longer on a busy machine, and returns how many bytes were written
// and how long that took.
func (p *person) count(d time.Duration) (n int, took time.Duration) {
	p.mu.Lock()
	before, begin := p.bytes, time.Now()
	p.mu.Unlock()
	<-time.After(d)
	p.mu.Lock()
	n = p.bytes - before
	p.mu.Unlock()
	return n, time.Since(begin)
}

// silent waits until nothing is written for a time, and returns how much was written until then. It
// gives up on a program that writes more than most.
func (p *person) silent(during time.Duration, most int) (wrote int) {
	for wrote <= most {
		n, _ := p.count(during)
		if n == 0 {
			break
		}
		wrote += n
	}
	return wrote
}

// stalls stops reading for good.
func (p *person) stalls() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stall = make(chan struct{})
}

// leave ends the program in any state.
func (p *person) leave() {
	p.command.Process.Kill()
	<-p.ended
	p.terminal.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stall != nil {
		close(p.stall)
		p.stall = nil
	}
}

// phaseOf returns the phase that the strip on the screen named last.
func phaseOf(shown string) string {
	at := strings.LastIndex(shown, "● ")
	for at >= 0 {
		for _, name := range []string{"collect+train", "score", "fit", "generate", "evaluate"} {
			if strings.HasPrefix(shown[at+len("● "):], name) {
				return name
			}
		}
		at = strings.LastIndex(shown[:at], "● ")
	}
	return ""
}

// knobNumber is the text of the pane of knobs while knob n is selected.
func knobNumber(n int) string { return fmt.Sprintf("%d of %d", n, len(knob.All())) }
