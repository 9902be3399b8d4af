package session

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/report"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/scenes"
)

// copies are what a run keeps beside its journal.
type copies struct {
	tensorboard string // folder of event files; "": none
	scenes      bool
}

// bind adds the flags that ask for copies.
func (k *copies) bind(c *cobra.Command) {
	c.Flags().StringVar(&k.tensorboard, "tensorboard", "", "`DIR` write event files for TensorBoard below this folder")
	c.Flags().BoolVar(&k.scenes, "scenes", false, "keep for replays what a journal does not have: the agent's poses, dreams, the map")
	cli.SetGroup(c.Flags(), cli.WhereToKeep, "tensorboard", "scenes")
}

// keep makes the run keep copies.
func (s *session) keep(k copies) error {
	if _, err := os.Lstat(s.folder.Path(scenes.FileName)); err == nil {
		k.scenes = true // a resumed run goes on with what it keeps
	}
	if s.copies = k; k.tensorboard == "" {
		return nil
	}
	if err := cli.MakeFolder(k.tensorboard, "event files"); err != nil {
		s.drop()
		return cli.Usagef("--tensorboard: %v", err)
	}
	s.tensorboard = rundir.Absolute(k.tensorboard)
	return nil
}

// copyEvents writes the events of a lab into an event file, if the run writes any, until the function
// that it returns is called after the run's end. The run is worth more than its copy: it goes on if
// the file cannot be written.
func (s *session) copyEvents(l *lab.Lab) (end func() error) {
	if s.tensorboard == "" {
		return func() error { return nil }
	}
	history := l.Events(0)[:s.history]
	stream, err := newStream(filepath.Join(s.tensorboard, rundir.Name(s.folder.Dir())), s.config.Members, history, time.Now())
	if err != nil {
		return func() error { return err }
	}
	over, copied := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for err == nil {
			select {
			case <-over:
				copied <- errors.Join(stream.take(l.Events(stream.next)), stream.file.Close())
				return
			case <-tick.C:
				err = stream.take(l.Events(stream.next))
			}
		}
		stream.file.Close()
		copied <- err
	}()
	return func() error {
		close(over)
		return <-copied
	}
}

// A stream writes the numbers of a run into an event file while the run goes on, for a TensorBoard
// that watches the folder.
type stream struct {
	file    *os.File
	events  *report.EventWriter
	begin   int // earlier files have the history before this step
	history int // number of events in the history
	next    int // index of the lab's next event
	members int
}

// newStream begins an event file for a run with that history, which is empty for a new one. It is in
// dir or, if that has files of another run, in a folder with a number after the name.
func newStream(dir string, members int, history []event.Event, now time.Time) (*stream, error) {
	s := &stream{members: members, history: len(history)}
	known, err := s.numbers(history)
	if err != nil {
		return nil, err
	}
	home, begin, err := homeOf(dir, known)
	if err != nil {
		return nil, err
	}
	s.begin = begin
	if s.file, err = newEventFile(home, now); err != nil {
		return nil, err
	}
	if s.events, err = report.NewEventWriter(s.file, seconds(now), begin); err != nil {
		s.file.Close()
		return nil, err
	}
	return s, nil
}

// homeOf finds or makes the folder for a run's event files, and says from which step on another file is
// to hold the run. Of the folders with files that begin with the run's numbers it is the one that has
// most of them.
func homeOf(dir string, known report.Written) (home string, begin int, err error) {
	best := -1
	for n := 1; ; n++ {
		next := dir
		if n > 1 {
			next = fmt.Sprintf("%s-%d", dir, n)
		}
		earlier, err := eventFiles(next)
		if err != nil {
			return "", 0, err
		}
		if len(earlier) == 0 && best >= 0 {
			return home, best, nil
		} else if len(earlier) == 0 {
			err := errors.Join(os.MkdirAll(filepath.Dir(next), 0o755), os.Mkdir(next, 0o755))
			if errors.Is(err, fs.ErrExist) {
				continue // a run of that name that begins at the same moment has just made it
			}
			return next, 0, err
		}
		there, err := report.ReadWritten(earlier)
		if err != nil {
			return "", 0, err
		}
		if begin, own := goesOn(there, known); own && begin > best {
			home, best = next, begin
		}
	}
}

// eventFiles lists the event files in a folder, oldest first; none if it is not there.
func eventFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir) // by name, and so by time
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), report.EventFilePrefix) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// goesOn returns the first step at which event files do not have what a run has: after a crash they
// have too much, and too little after a time in which none were written. They are not its own if they
// have numbers, and none in common with what is known.
func goesOn(there, known report.Written) (begin int, own bool) {
	same := func(a, b report.Scalar) bool {
		return a.Name == b.Name && (float32(a.Value) == float32(b.Value) || a.Value != a.Value && b.Value != b.Value)
	}
	own = len(there) == 0 && len(known) > 0
	steps := map[int]bool{}
	for step := range known {
		begin, steps[step] = max(begin, step+1), true
	}
	for step := range there {
		steps[step] = true
	}
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		if step >= begin {
			break
		}
		a, b := there[step], known[step]
		n := min(len(a), len(b)) // a crash, or a checkpoint, may be between two lines of a step
		own = own || n > 0 && slices.EqualFunc(a[:n], b[:n], same)
		if !slices.EqualFunc(a, b, same) {
			return step, own
		}
	}
	return begin, own
}

// newEventFile makes a file with the name of the first second from now on that no file has: a run may go
// on in the second in which it began.
func newEventFile(dir string, now time.Time) (*os.File, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	for ; ; now = now.Add(time.Second) {
		file, err := os.OpenFile(filepath.Join(dir, report.EventFile(now, host)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// numbersOf returns the numbers of an event that files have.
func (s *stream) numbersOf(e event.Event) ([]report.Scalar, error) {
	if !report.Measures(e.Type) {
		return nil, nil
	}
	values, err := report.ScalarsOf(e.Type, e.Body)
	if err == nil && s.members > 1 {
		values = report.OfMember(values, e.Member)
	}
	return values, err
}

// numbers are those of events, by step.
func (s *stream) numbers(events []event.Event) (report.Written, error) {
	all := report.Written{}
	for _, e := range events {
		values, err := s.numbersOf(e)
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			all[e.Step] = append(all[e.Step], values...)
		}
	}
	return all, nil
}

// take writes events, the lab's next ones.
func (s *stream) take(events []event.Event) error {
	for _, e := range events {
		s.next = e.Index + 1
		if e.Index < s.history && e.Step < s.begin {
			continue
		}
		values, err := s.numbersOf(e)
		if err != nil {
			return err
		}
		if err := s.events.Write(seconds(e.Wall), e.Step, values); err != nil {
			return err
		}
	}
	return nil
}
