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

// A run is handed over to a process of its own, which no terminal and no shell owns: a Go
// process cannot put itself into the background. The new process, started first, checks
// all that it can without the folder; then this one saves between two slices, ends the
// run and closes its socket and its device; the new one adopts the lock, which it has
// inherited, goes on from the checkpoint, listens, and says so. Until then this process
// can take the run back.

// successorLog is what the new process says, in the run folder.
const successorLog = "train.log"

// The inherited files of a successor.
const (
	successorLock    = 3 // the lock of the run folder; /dev/null where it is a lease
	successorOrders  = 4 // a handoverOrder comes from here; its end means: do not begin
	successorAnswers = 5 // handoverAnswers go there
)

// handoverOrder tells a successor to begin.
type handoverOrder struct {
	From   int    `json:"from"`             // the process that has the run
	Lease  bool   `json:"lease,omitempty"`  // the folder is locked by a lease
	Paused bool   `json:"paused,omitempty"` // it begins with a pause, as the run was left
	Reason string `json:"reason,omitempty"` // of the pause
}

// handoverAnswer is what a successor says.
type handoverAnswer struct {
	Ready   bool   `json:"ready,omitempty"`   // everything is checked that can be before it begins
	Started bool   `json:"started,omitempty"` // it has the run, and listens
	Said    string `json:"said,omitempty"`    // what takes its time
	Error   string `json:"error,omitempty"`   // why it gives up
}

// successor is the process that is to go on with a run, seen from the one that has it.
type successor struct {
	command *exec.Cmd
	hold    *run.Hold
	orders  *os.File
	answers *os.File
	decoder *json.Decoder
}

// errEndedBefore: the run ended by itself before it could be handed over.
var errEndedBefore = errors.New("the run has ended")

// handOver gives the run to a process of its own and says which. On an error the run goes
// on in this process, or has ended: see over. say hears what takes its time.
func (s *session) handOver(ctx context.Context, say func(string)) (pid int, err error) {
	next, err := s.newSuccessor()
	if err != nil {
		return 0, err
	}
	defer next.close()
	say("starting a process of its own for the run")
	before := s.lab.Snapshot()
	err = next.await(ctx, func(a handoverAnswer) bool { return a.Ready }, say)
	if err == nil {
		err = s.saveToHandOver(say)
	}
	if err != nil {
		next.end()
		return 0, err
	}
	if s.server != nil {
		s.server.Close("the run goes on in a process of its own")
		s.server = nil
	}
	order := handoverOrder{From: os.Getpid(), Lease: next.hold.File() == nil}
	if order.Paused = before.State == event.PausedState; order.Paused {
		order.Reason = before.Err
	}
	err = json.NewEncoder(next.orders).Encode(order)
	if err == nil {
		err = next.await(ctx, func(a handoverAnswer) bool { return a.Started }, say)
	}
	if err == nil {
		return next.command.Process.Pid, nil
	}
	next.end()
	if ctx.Err() != nil { // it is saved, and this process is to end
		return 0, err
	}
	if again := s.takeBack(ctx, next.hold, order); again != nil {
		err = fmt.Errorf("%w; nor does it go on here: %w", err, again)
		s.err = err
	}
	return 0, err
}

// newSuccessor starts a process that is to go on with the run and waits for an order.
func (s *session) newSuccessor() (*successor, error) {
	dir, err := filepath.Abs(s.folder.Dir())
	if err != nil {
		return nil, fmt.Errorf("leave the run: %w", err)
	}
	next := &successor{command: s.process(s.successorArgs(dir)...)}
	next.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, no shell's job
	if next.hold, err = s.folder.Hold(); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, successorLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o644)
	if err == nil {
		err = next.start(log)
		log.Close()
	}
	if err != nil {
		next.close()
		return nil, fmt.Errorf("start a process for the run: %w", err)
	}
	return next, nil
}

// successorArgs is the command line that goes on with the run as it is: what of it is not
// in the run folder.
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

// await hears answers until one is the wanted one.
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
			return fmt.Errorf("hear of its process: %w", err)
		case a.Error != "":
			return errors.New(a.Error)
		case wanted(a):
			return nil
		case a.Said != "":
			say(a.Said)
		}
	}
}

// end ends a process that could not go on with the run, and waits until it is gone.
func (n *successor) end() {
	n.orders.Close()
	_ = n.command.Process.Signal(syscall.SIGTERM) // it may be gone; where it began, it saves
	_ = n.command.Wait()
}

// close lets go of the process, which ends where it was given no order, and of the hold.
func (n *successor) close() {
	for _, f := range []*os.File{n.orders, n.answers} {
		if f != nil {
			f.Close()
		}
	}
	n.hold.Close()
}

// saveToHandOver ends the run in this process, saved where it is. An error means that it
// goes on here, errEndedBefore that it had ended.
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
		case text := <-s.heard:
			say(text)
		case <-tick.C:
		}
	}
}

// takeBack goes on in this process with a run that its successor could not go on with.
// On an error it has ended.
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

// paused has the run begin with a pause where it was left in one.
func (s *session) paused(order handoverOrder) {
	if order.Paused {
		s.pause = &event.Pause{Reason: order.Reason, By: "as it was left"}
	}
}
