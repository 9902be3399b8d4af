package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/tui/command/terminal"
)

// A run is handed over to a process of its own, which belongs to no terminal and no shell: a Go
// process cannot put itself into the background. The new process, started first, checks all that it
// can without the folder. Then this process saves between two slices, ends the run and closes its
// socket and its device. The new process adopts the lock, which it has inherited, resumes from the
// checkpoint, listens, and reports that. Until then this process can take the run back.

// successorLog is the file in the run folder for the output of the new process.
const successorLog = "train.log"

// The files that a successor inherits.
const (
	successorLock    = 3 // the lock of the run folder; /dev/null if the lock is a lease
	successorOrders  = 4 // a handoverOrder comes from here; end of file means: do not begin
	successorAnswers = 5 // handoverAnswers are written here
)

// handoverOrder lets a successor begin.
type handoverOrder struct {
	From   int    `json:"from"`             // the process that has the run now
	Lease  bool   `json:"lease,omitempty"`  // the folder is locked by a lease
	Paused bool   `json:"paused,omitempty"` // begin with a pause, as the run was paused
	Reason string `json:"reason,omitempty"` // reason for the pause
}

// leave makes the run be as it was left. A pause until the disk takes something again is none that a
// person would have to end: everything is saved now.
func (o *handoverOrder) leave(left *event.Snapshot) {
	if left.State == event.PausedState && !left.Passing {
		o.Paused, o.Reason = true, left.Err
	}
}

// handoverAnswer is a message from a successor.
type handoverAnswer struct {
	Ready   bool   `json:"ready,omitempty"`   // everything that can be checked beforehand is checked
	Started bool   `json:"started,omitempty"` // it has the run, and listens
	Said    string `json:"said,omitempty"`    // what takes time
	Error   string `json:"error,omitempty"`   // why it has given up
}

// successor is the process that is to continue a run, as seen from the process that has the run.
type successor struct {
	command *exec.Cmd
	hold    *run.Hold
	orders  *os.File
	answers *os.File
	decoder *json.Decoder
}

// errEndedBefore says that the run ended on its own before it could be handed over.
var errEndedBefore = errors.New("the run has ended")

// errMoving refuses forks.
var errMoving = errors.New("the run moves to another process: make forks there")

// handOver gives the run to a process of its own and returns that process's pid. After an error the
// run goes on in this process, or has ended: see over. say reports what takes time.
func (s *session) handOver(ctx context.Context, say func(string)) (pid int, err error) {
	next, err := s.newSuccessor()
	if err != nil {
		return 0, err
	}
	defer next.close()
	say("starting a process of its own for the run")
	err = next.await(ctx, func(a handoverAnswer) bool { return a.Ready }, say)
	if err == nil {
		allow := s.forks.Refuse(errMoving) // those that are being made get their line in the journal first
		defer func() {
			if err != nil {
				allow()
			}
		}()
		err = s.saveToHandOver(say)
	}
	if err != nil {
		next.end()
		return 0, err
	}
	if s.server != nil {
		s.server.HandOver()
		s.server = nil
	}
	order := handoverOrder{From: os.Getpid(), Lease: next.hold.File() == nil}
	order.leave(s.lab.Snapshot()) // the last one: it may have been paused meanwhile
	err = json.NewEncoder(next.orders).Encode(order)
	if err == nil {
		err = next.await(ctx, func(a handoverAnswer) bool { return a.Started }, say)
	}
	if err == nil {
		return next.command.Process.Pid, nil
	}
	next.end()
	if ctx.Err() != nil { // the run is saved, and this process is to end
		return 0, err
	}
	if again := s.takeBack(ctx, next.hold, order); again != nil {
		err = fmt.Errorf("%w; nor does it go on here: %w", err, again)
		s.err = err
	}
	return 0, err
}

// newSuccessor starts a process that is to continue the run and waits for an order.
func (s *session) newSuccessor() (*successor, error) {
	dir, err := filepath.Abs(s.folder.Dir())
	if err != nil {
		return nil, fmt.Errorf("leave the run: %w", err)
	}
	next := &successor{command: s.process(s.successorArgs(dir)...)}
	next.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, not a job of a shell
	if next.hold, err = s.folder.Hold(); err != nil {
		return nil, err
	}
	log, err := s.folder.Log(successorLog)
	if err == nil {
		err = next.start(log.File)
		log.Close()
	}
	if err != nil {
		next.close()
		return nil, fmt.Errorf("start a process for the run: %w", err)
	}
	return next, nil
}

// successorArgs is the command line that continues the run unchanged: the settings that are not in
// the run folder.
func (s *session) successorArgs(dir string) []string {
	args := []string{"train", "--resume", dir, "--handover", "--device", "cpu"}
	if g := s.place.GPU; g != nil {
		args = append(args[:len(args)-1], g.UUID, "--precision", s.place.Precision)
	}
	if s.memory > 0 {
		args = append(args, "--gpu-mem", strconv.FormatInt(s.memory, 10))
	}
	if s.threads > 0 {
		args = append(args, "--threads", strconv.Itoa(s.threads))
	}
	if s.saving.Every > 0 {
		args = append(args, "--checkpoint-every", s.saving.Every.String())
	}
	if s.saving.Disk > 0 {
		args = append(args, "--disk", strconv.FormatInt(s.saving.Disk, 10))
	}
	if s.saving.Lean {
		args = append(args, "--lean")
	}
	if s.tensorboard != "" {
		args = append(args, "--tensorboard", s.tensorboard)
	}
	if s.scenes {
		args = append(args, "--scenes")
	}
	return args
}

// start starts the process with the files that it inherits.
func (n *successor) start(log *os.File) error {
	orders, give, err := os.Pipe()
	if err != nil {
		return err
	}
	defer orders.Close()
	n.orders = give
	answers, answer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answer.Close()
	n.answers, n.decoder = answers, json.NewDecoder(answers)
	lock := n.hold.File()
	if lock == nil {
		if lock, err = os.Open(os.DevNull); err != nil {
			return err
		}
		defer lock.Close()
	}
	n.command.Stderr = log
	n.command.ExtraFiles = []*os.File{lock, orders, answer}
	return n.command.Start()
}

// await reads answers until the wanted one comes.
func (n *successor) await(ctx context.Context, wanted func(handoverAnswer) bool, say func(string)) error {
	defer context.AfterFunc(ctx, func() { n.answers.SetReadDeadline(time.Unix(1, 0)) })()
	for {
		var a handoverAnswer
		switch err := n.decoder.Decode(&a); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("its process (pid %d) ended without a word: see %s", n.command.Process.Pid, successorLog)
		case err != nil:
			return fmt.Errorf("read from its process: %w", err)
		case a.Error != "":
			return errors.New(a.Error)
		case wanted(a):
			return nil
		case a.Said != "":
			say(a.Said)
		}
	}
}

// end ends a process that could not continue the run, and waits until it has exited.
func (n *successor) end() {
	n.orders.Close()
	_ = n.command.Process.Signal(syscall.SIGTERM) // it may have exited; if it began, it saves
	_ = n.command.Wait()
}

// close releases the hold and the process, which ends if it was given no order.
func (n *successor) close() {
	for _, f := range []*os.File{n.orders, n.answers} {
		if f != nil {
			f.Close()
		}
	}
	n.hold.Close()
}

// saveToHandOver ends the run in this process after saving it. After an error the run goes on here;
// after errEndedBefore it had ended.
func (s *session) saveToHandOver(say func(string)) error {
	ref := fmt.Sprintf("leave %d", time.Now().UnixNano())
	from, asked := len(s.lab.Events(0)), false
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if !asked {
			switch err := s.lab.Send(event.HandOver{Ref: ref, By: terminal.Name()}); {
			case err == nil:
				asked = true
				say("saving")
			case errors.Is(err, event.ErrEnded):
				<-s.ended
				return errEndedBefore
			}
		}
		for _, e := range s.lab.Events(from) {
			from = e.Index + 1
			if r, is := e.Body.(event.Refused); is && r.Ref == ref {
				return errors.New(r.Reason)
			}
		}
		select {
		case <-s.ended:
			if errors.Is(s.err, lab.ErrHandedOver) {
				return nil
			}
			return errEndedBefore
		case text := <-s.signals:
			say(text)
		case <-tick.C:
		}
	}
}

// takeBack continues in this process a run that its successor could not continue. After an error
// the run has ended.
func (s *session) takeBack(ctx context.Context, hold *run.Hold, order handoverOrder) error {
	folder, err := hold.Reopen()
	if err != nil {
		return err
	}
	s.folder, s.resumption = folder, &lab.Resumption{Saving: s.saving}
	s.paused(order)
	before := s.ended
	s.ended, s.err = make(chan struct{}), nil
	if err := s.start(ctx, lab.FaultPause); err != nil {
		s.ended = before
		return err
	}
	return nil
}

// paused makes the run begin with a pause if it was paused before.
func (s *session) paused(order handoverOrder) {
	if order.Paused {
		s.pause = &event.Pause{Reason: order.Reason, By: "as it was left"}
	}
}
