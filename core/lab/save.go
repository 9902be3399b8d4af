package lab

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/meter"
	"pgrlab/core/redo"
	"pgrlab/core/replica"
)

// savedLoop is the section loop: all that is no part with Save and Load.
type savedLoop struct {
	Loop     savedCounters
	Schedule []knob.Scheduled
	Position knob.Position
	Total    int
	Todo     knob.Class
	Bound    int // stage of the work under way, as an index of boundStages
	Scored   bool
	Fitted   bool // in the present env step
	Ended    bool // behind the place where a longer run goes on
	Meter    meter.State
	Members  []replica.Saved
}

// savedCounters are the counters of the loop.
type savedCounters struct {
	Step        int
	Settings    knob.Settings
	Refits      uint64
	Generations uint64
	Generating  generative.GenKnobs
	Fitted      bool
	Asked       inspect.Prompts
	Analysing   knob.Settings
	Redo        knob.Class
	Changes     []event.KnobChanged
	Waiting     []redo.Waiting
}

// boundStages are the stages that the work of an env step may have reached, by their numbers in checkpoints.
var boundStages = []redo.Stage{redo.Score, redo.Scoring, redo.Fitting, redo.Generating}

// loop is the section loop as it is now.
func (x *experiment) loop() savedLoop {
	c, d := x.changes.State(), &x.synthesis
	s := savedLoop{
		Loop: savedCounters{
			x.Step, x.Settings, d.Refits, d.Generations, d.Generating, d.Fitted, d.Asked, d.Analysing, c.Redo, c.All, c.Waiting,
		},
		Schedule: x.steering.schedule, Position: x.position, Total: x.total,
		Todo: c.Todo, Bound: slices.Index(boundStages, c.Begun), Scored: x.refit.scored, Fitted: x.refit.fitted, Ended: x.checkpoints.lastStep.behind(x.position),
		Meter: x.meter.State(),
	}
	scored := x.position.Phase == knob.Score || x.position.Phase == knob.Fit
	for _, m := range x.members {
		s.Members = append(s.Members, m.Saved(scored))
	}
	return s
}

// sectionLoop is the name of the loop's section.
const sectionLoop = "loop"

// saveSections hands every section to put, with a function that writes it. It is for the
// places between two slices only.
func (x *experiment) saveSections(put func(name string, part func(w io.Writer) error) error) error {
	if x.inSlice {
		return fmt.Errorf("save run: the run is at work behind %s", x.position)
	}
	all := []replica.Section{{Name: sectionLoop, Part: loopSection{x}}}
	for _, m := range x.members {
		all = append(all, m.Sections()...)
	}
	for _, s := range all {
		if err := put(s.Name, s.Part.Save); err != nil {
			return fmt.Errorf("save run: %s: %w", s.Name, err)
		}
	}
	return nil
}

// loadSections makes x, which has not begun, the run whose sections get returns.
// names are those that were saved; all must be there and none be left. On an error
// x must not be used any further.
func (x *experiment) loadSections(names []string, get func(name string, load func(r io.Reader) error) error) error {
	left := slices.Clone(names)
	load := func(s replica.Section) error {
		i := slices.Index(left, s.Name)
		if i < 0 {
			return fmt.Errorf("load run: %s was not saved", s.Name)
		}
		left = slices.Delete(left, i, i+1)
		if err := get(s.Name, s.Part.Load); err != nil {
			return fmt.Errorf("load run: %s: %w", s.Name, err)
		}
		return nil
	}
	if err := load(replica.Section{Name: sectionLoop, Part: loopSection{x}}); err != nil {
		return err
	}
	for _, m := range x.members {
		for _, s := range m.Sections() {
			if err := load(s); err != nil {
				return err
			}
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("load run: this version does not know %s", strings.Join(left, ", "))
	}
	if err := x.checkLoaded(); err != nil {
		return fmt.Errorf("load run: its parts do not go together: %w", err)
	}
	x.inSlice = false
	x.publish(time.Time{})
	return nil
}

// loopSection is the section loop. Its Load brings the members into the shape that
// they were saved in, for their own sections to follow.
type loopSection struct{ x *experiment }

func (l loopSection) Save(w io.Writer) error { return gob.NewEncoder(w).Encode(l.x.loop()) }

func (l loopSection) Load(r io.Reader) error {
	var s savedLoop
	text, err := io.ReadAll(r) // gob reads ahead
	if err != nil {
		return err
	}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
		return errors.New("not a saved run, or of another version")
	}
	return l.x.restore(s)
}

func (x *experiment) restore(s savedLoop) error {
	if len(s.Members) != len(x.members) {
		return fmt.Errorf("%d members are saved, the cohort has %d", len(s.Members), len(x.members))
	}
	if err := s.validate(x); err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	x.place.load(s.Loop.Step, s.Position, s.Total)
	l := &s.Loop
	x.Settings, x.steering.schedule = l.Settings, s.Schedule
	x.synthesis = synthesis{l.Refits, l.Generations, l.Generating, l.Fitted, l.Asked, l.Analysing}
	x.changes.Restore(redo.State{All: l.Changes, Waiting: l.Waiting, Todo: s.Todo, Redo: l.Redo, Begun: boundStages[s.Bound]})
	x.refit.scored, x.refit.fitted, x.checkpoints.lastStep.marked = s.Scored, s.Fitted, s.Ended
	x.meter.Restore(s.Meter)
	for i, m := range x.members {
		if err := m.Restore(s.Members[i], x.Settings.Relevance); err != nil {
			return err
		}
	}
	return nil
}
