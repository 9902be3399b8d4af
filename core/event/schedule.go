package event

import (
	"errors"
	"fmt"
	"io"
	"os"

	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// ReadSchedule lists the knob changes of a journal, for a run that repeats them.
func ReadSchedule(path string) ([]knob.Scheduled, error) {
	file, err := openSchedule(path)
	if err != nil {
		return nil, fmt.Errorf("read schedule: %w", err)
	}
	defer file.Close()
	var all []knob.Scheduled
	for r := run.NewReader(file); ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read schedule %s: %w", path, err)
		}
		if e.Type != TypeKnob {
			continue
		}
		var k KnobChanged
		if err := e.Fields(&k); err != nil {
			return nil, fmt.Errorf("read schedule %s: %w", path, err)
		}
		all = append(all, k.Scheduled())
	}
}

// openSchedule opens the journal of a run folder, or path itself if it is a file.
func openSchedule(path string) (io.ReadCloser, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return run.OpenFile(path, run.JournalName)
	}
	return run.OpenNamed(path)
}
