package outside

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How long a program may take.
const (
	helloTime = 120 * time.Second // until it says what it is
	graceTime = 2 * time.Second   // to exit by itself, and again after SIGTERM
)

// quiet are set for programs that do not set them: threads of their own would take the processors from the
// kernels, and hashes that differ from run to run the order of sets.
var quiet = []string{"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "PYTHONHASHSEED=0"}

// process is a program that runs. Requests to it wait for each other.
type process struct {
	mu     sync.Mutex // of the wire
	wire   wire
	spec   Spec
	failed error // why it cannot be used any more

	limit  time.Duration // for a reply
	grace  time.Duration
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	log    *logbook
	exited chan struct{}
	status string // how it ended, after exited

	number sync.Mutex // of its process group, while it is used: see signal
	reaped bool
}

// running are the processes that have not ended.
var running sync.Map // of *process

// KillAll ends all programs of this process with what they have started, before this process ends without closing
// them: a program that hangs never sees the end of its input.
func KillAll() {
	running.Range(func(p, _ any) bool {
		p.(*process).signal(syscall.SIGKILL)
		return true
	})
}

// begin starts a program without asking it anything. It has a process group of its own, so that ctrl+C reaches pgrlab
// alone. What is sent to all processes of a job reaches it all the same.
func begin(c Command, limit time.Duration, log *logbook) (*process, error) {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, os.Environ()
	for _, setting := range quiet {
		if name, _, _ := strings.Cut(setting, "="); os.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &process{limit: limit, grace: graceTime, cmd: cmd, log: log, exited: make(chan struct{})}
	var theirs []*os.File
	pipe := func(parentReads bool) *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			return nil
		}
		if parentReads {
			r, w = w, r
		}
		theirs = append(theirs, r)
		return w
	}
	stderr := (*os.File)(nil)
	p.stdin, p.stdout, stderr = pipe(false), pipe(true), pipe(true)
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if p.stdin == nil || p.stdout == nil || stderr == nil {
		closeAll(p.stdin, p.stdout, stderr)
		return nil, errors.New("no more files can be opened")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	if err := cmd.Start(); err != nil {
		closeAll(p.stdin, p.stdout, stderr)
		return nil, err
	}
	running.Store(p, nil)
	p.wire = newWire(output{p}, p.stdin)
	go p.watch(stderr)
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// watch waits for the end of the program, ends what it leaves behind, and wakes what waits for a reply.
func (p *process) watch(stderr *os.File) {
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		io.Copy(p.log, stderr)
	}()
	p.reap()
	running.Delete(p)
	stderr.SetReadDeadline(time.Now().Add(graceTime))
	<-logged
	stderr.Close()
	p.status = p.cmd.ProcessState.String()
	close(p.exited)
	p.deadline(past)
}

func (p *process) deadline(at time.Time) {
	p.stdin.SetWriteDeadline(at)
	p.stdout.SetReadDeadline(at)
}

// reap waits for the end of the program and ends the rest of its group.
func (p *process) reap() {
	awaitEnd(p.cmd)
	p.number.Lock()
	defer p.number.Unlock()
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	p.cmd.Wait()
	p.reaped = true
}

// signal sends a signal to the program's process group, whose number may be that of another one once the program has
// been waited for.
func (p *process) signal(s syscall.Signal) {
	p.number.Lock()
	defer p.number.Unlock()
	if !p.reaped {
		syscall.Kill(-p.cmd.Process.Pid, s)
	}
}

func (p *process) over() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// output reads what the program writes. After its end there is what it wrote before, and nothing to wait for, even if
// another process has inherited the pipe.
type output struct{ p *process }

func (o output) Read(b []byte) (n int, err error) {
	if n, err = o.p.stdout.Read(b); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !o.p.over() {
		return n, err
	}
	raw, err := o.p.stdout.SyscallConn()
	if err != nil {
		return 0, err
	}
	o.p.stdout.SetReadDeadline(time.Time{})
	defer o.p.stdout.SetReadDeadline(past)
	var failed error
	if err := raw.Read(func(fd uintptr) bool { n, failed = syscall.Read(int(fd), b); return true }); err != nil {
		return 0, err
	}
	if n <= 0 || failed != nil {
		return 0, io.EOF
	}
	return n, nil
}

// errGone says that a program has failed before.
var errGone = &Lost{text: "the program has ended"}

// exchange sends the request in the wire and returns the body of the reply, which is valid until the next request: the
// caller holds mu. A refusal that is not fatal leaves the program as it is; after any other error it is ended.
func (p *process) exchange(size int, limit time.Duration) ([]byte, error) {
	if p.failed != nil {
		return nil, errGone
	}
	p.deadline(time.Now().Add(limit))
	if p.over() {
		p.deadline(past)
	}
	body, err := p.wire.exchange(size)
	if err == nil {
		return body, nil
	}
	var said *refusal
	if errors.As(err, &said) && !said.Fatal {
		return nil, err
	}
	p.failed = p.describe(err, limit)
	p.kill()
	return nil, p.failed
}

// describe says why a program cannot be used any more, with the last lines of its log.
func (p *process) describe(err error, limit time.Duration) error {
	doing := readHeader(p.wire.frame).kind
	var said *refusal
	switch {
	case errors.As(err, &said): // it has said why
		return err
	case errors.Is(err, os.ErrDeadlineExceeded) && !p.over():
		err = fmt.Errorf("the program did not answer %s within %v: --env-timeout gives it more", doing, limit)
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.EPIPE):
		if p.gone() {
			err = fmt.Errorf("the program ended (%s) and did not answer %s", p.status, doing)
		} else {
			err = fmt.Errorf("the program closed its output and did not answer %s", doing)
		}
	}
	if lines := p.log.last(5); len(lines) > 0 {
		return fmt.Errorf("%w; its last lines: %s", err, strings.Join(lines, " | "))
	}
	return err
}

// kill ends the program at once.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	p.gone()
	closeAll(p.stdin, p.stdout)
}

// gone waits a while for the end of the program.
func (p *process) gone() bool {
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// end lets the program end: it is asked to, its input ends, and what is still there after a while is ended.
func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return // it is gone
	}
	p.failed = errors.New("it was ended")
	p.wire.request(kindClose, 0)
	p.stdin.SetWriteDeadline(time.Now().Add(p.grace))
	p.stdin.Write(finish(p.wire.frame)) // a program that does not read will see the end of its input
	p.stdin.Close()
	for _, s := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		if s != 0 {
			p.signal(s)
		}
		if p.gone() {
			break
		}
	}
	p.stdout.Close()
}
