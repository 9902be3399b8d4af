package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"pgrlab/core/printable"
	"pgrlab/core/run"
)

// Lines calls see for every line of a run's journal that holds measurements, with the
// line and its numbers.
func Lines(dir string, see func(e run.Entry, values []Scalar) error) error {
	file, err := run.OpenFile(dir, run.JournalName)
	if err != nil {
		return fmt.Errorf("%s: no run is there: give a run folder", dir)
	}
	defer file.Close()
	for lines := run.NewReader(file); ; {
		e, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if silent[e.Type] {
			continue
		}
		values, err := Scalars(e)
		if err == nil && len(values) > 0 {
			err = see(e, values)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
}

// silent are the types of lines whose numbers measure nothing. The last two are never in a journal,
// but a running lab has them among its events.
var silent = map[string]bool{"start": true, "knob": true, "in_force": true, "whole": true, "done": true, "checkpoint": true, "note": true, "planned": true, "cancelled": true,
	"previewed": true, "refused": true}

// Measures says whether lines of that type hold measurements.
func Measures(kind string) bool { return !silent[kind] }

// Unmeasured are the types of lines that hold no measurements, sorted.
func Unmeasured() []string { return slices.Sorted(maps.Keys(silent)) }

// CSV writes all measurements in a run's journal, one per row: step, wall_s, member,
// quantity, value, and the folder and seed, so that the tables of several runs can be joined. What
// is of all members has the seed of the first, as it has member 0.
func (r *Run) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"step", "wall_s", "member", "quantity", "value", "run", "seed"})
	err := Lines(r.Dir, func(e run.Entry, values []Scalar) error {
		for _, v := range values {
			member := max(e.Member, 0)
			out.Write([]string{
				strconv.Itoa(e.Step), strconv.FormatFloat(e.WallS, 'f', 3, 64), strconv.Itoa(member), v.Name,
				strconv.FormatFloat(v.Value, 'g', -1, 64), printable.Line(r.Dir), strconv.FormatUint(r.Members[member].Seed, 10),
			})
		}
		return nil
	})
	out.Flush() // csv.Writer remembers its first error
	return errors.Join(err, out.Error())
}

// TensorBoard writes all measurements in a run's journal as a file of events.
func (r *Run) TensorBoard(w io.Writer) error {
	begun := r.Began()
	seconds := func(wall float64) float64 { return float64(begun.UnixMicro())/1e6 + wall }
	events, err := NewEventWriter(w, seconds(0), 0)
	if err != nil {
		return err
	}
	return Lines(r.Dir, func(e run.Entry, values []Scalar) error {
		if len(r.Members) > 1 {
			values = OfMember(values, e.Member)
		}
		return events.Write(seconds(e.WallS), e.Step, values)
	})
}

// OfMember appends the member to the names of its numbers; member −1 means all members
// and changes nothing.
func OfMember(values []Scalar, member int) []Scalar {
	if member < 0 {
		return values
	}
	for i := range values {
		values[i].Name += fmt.Sprintf("/member %d", member)
	}
	return values
}

// Began returns when the run was begun; 1970 if its journal does not say.
func (r *Run) Began() time.Time {
	begun, err := time.Parse(time.RFC3339, r.Time)
	if err != nil {
		return time.Unix(0, 0).UTC()
	}
	return begun
}

// EventFilePrefix begins the name of every file of events.
const EventFilePrefix = "events.out.tfevents."

// EventFile returns the name of a run's file of events. TensorBoard looks for the
// beginning of the name, and reads files in the order of their times.
func EventFile(begun time.Time, host string) string {
	return fmt.Sprintf(EventFilePrefix+"%010d.%s.pgrlab", begun.Unix(), filepath.Base(host))
}
