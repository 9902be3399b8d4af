package session

import (
	"os"
	"path/filepath"
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
	next    int // index of the lab's next event
	members int
}

// newStream begins an event file for a run, in a folder of the run's name below root.
func newStream(root, run string, members int, now time.Time) (*stream, error) {
	dir := filepath.Join(root, rundir.Name(run))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cli.Usagef("--tensorboard: %v", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	file, err := os.Create(filepath.Join(dir, report.EventFile(now, host)))
	if err != nil {
		return nil, cli.Usagef("--tensorboard: %v", err)
	}
	events, err := report.NewEventWriter(file, seconds(now))
	if err != nil {
		file.Close()
		return nil, err
	}
	return &stream{file: file, events: events, members: members}, nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// take writes what has happened since the last call; a nil stream writes nothing.
func (s *stream) take(l *lab.Lab) error {
	if s == nil {
		return nil
	}
	for _, e := range l.Events(s.next) {
		s.next = e.Index + 1
		if e.Wall.IsZero() || !report.Measures(e.Type) {
			continue // from before a resume: an earlier file has it
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
