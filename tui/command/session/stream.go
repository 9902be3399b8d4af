package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgrlab/core/lab"
	"pgrlab/core/report"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

// A stream writes the numbers of a run into an event file while the run goes on, for a TensorBoard
// that watches the folder.
type stream struct {
	file    *os.File
	events  *report.EventWriter
	goesOn  bool // an earlier file has what came before
	next    int  // index of the lab's next event
	members int
}

// newStream begins an event file for a run, in a folder of the run's name below root.
func newStream(root, run string, members int, now time.Time) (*stream, error) {
	dir := filepath.Join(root, rundir.Name(run))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cli.Usagef("--tensorboard: %v", err)
	}
	earlier, err := os.ReadDir(dir)
	if err != nil {
		return nil, cli.Usagef("--tensorboard: %v", err)
	}
	file, err := newEventFile(dir, now)
	if err != nil {
		return nil, cli.Usagef("--tensorboard: %v", err)
	}
	events, err := report.NewEventWriter(file, seconds(now))
	if err != nil {
		file.Close()
		return nil, err
	}
	return &stream{file: file, events: events, goesOn: slices.ContainsFunc(earlier, isEventFile), members: members}, nil
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

func isEventFile(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), report.EventFilePrefix) }

// skip leaves out the first n events of the lab, those from before a resume, if an earlier file has them.
// Where none has, because it is the first resume with --tensorboard or that of a fork, they are written.
func (s *stream) skip(n int) {
	if s != nil && s.goesOn {
		s.next = n
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// take writes what has happened since the last call; a nil stream writes nothing.
func (s *stream) take(l *lab.Lab) error {
	if s == nil {
		return nil
	}
	for _, e := range l.Events(s.next) {
		s.next = e.Index + 1
		if !report.Measures(e.Type) {
			continue
		}
		values, err := report.ScalarsOf(e.Type, e.Body)
		if err != nil {
			return err
		}
		if s.members > 1 {
			values = report.OfMember(values, e.Member)
		}
		if err := s.events.Write(seconds(e.Wall), e.Step, values); err != nil {
			return err
		}
	}
	return nil
}

// close writes the rest and ends the file.
func (s *stream) close(l *lab.Lab) error {
	if s == nil {
		return nil
	}
	err := s.take(l)
	if e := s.file.Close(); err == nil {
		err = e
	}
	return err
}
