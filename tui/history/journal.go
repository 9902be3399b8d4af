package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/tui/format"
)

// ReadJournal reads the events of a run folder. Their times are those in the journal, counted from
// the start line's time.
func ReadJournal(dir string) ([]event.Event, error) {
	f, err := run.OpenFile(dir, run.JournalName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read run folder %s: no run is there: want a folder with %s", dir, run.JournalName)
	}
	if err != nil {
		return nil, fmt.Errorf("read run folder %s: %w", dir, err)
	}
	defer f.Close()
	var events []event.Event
	begin, members := time.Time{}, 1
	r := run.NewReader(f)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read run folder %s: %w", dir, err)
		}
		line, ok := event.Decode(e)
		if !ok {
			continue // written by another version
		}
		if s, ok := line.Body.(event.Start); ok {
			members = min(max(members, s.Members), 1<<16)
		}
		if e.Member >= members {
			return nil, fmt.Errorf("read run folder %s: journal line %d: member %d of %d", dir, e.Number, e.Member, members)
		}
		if s, ok := line.Body.(event.Start); ok && begin.IsZero() {
			begin, _ = time.Parse(time.RFC3339, s.Obs.Time) // an unreadable time counts as the year 1
		}
		line.Index, line.Wall = len(events), begin.Add(format.Seconds(e.WallS))
		if n := len(events); n > 0 && line.Wall.Before(events[n-1].Wall) {
			line.Wall = events[n-1].Wall // clocks of machines differ, and a line may lack its time
		}
		events = append(events, line)
	}
}
