package checkpoint

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/redo"
	"pgrlab/core/run"
	"pgrlab/core/version"
)

// Origin is a checkpoint that forks go on from. All forks of one Origin have the same state, also if
// the file is replaced meanwhile by one of the same position.
type Origin struct {
	from run.Found
	ck   *run.Checkpoint
}

// Open reads a checkpoint of a run of c.
func Open(c config.Config, from run.Found) (*Origin, error) {
	ck, err := run.LoadCheckpoint(from.Path, Limit(&c))
	if err != nil {
		return nil, fmt.Errorf("fork %s: %w", from.Path, err)
	}
	return &Origin{from, ck}, nil
}

// Fork opens a checkpoint and makes one fork of it.
func Fork(c config.Config, doc []byte, from run.Found, set []string, dir string) (said string, err error) {
	o, err := Open(c, from)
	if err != nil {
		return "", err
	}
	return o.Fork(c, doc, set, dir)
}

// Fork makes the folder of a new run that goes on from a checkpoint of another one, with
// knobs changed there; the elements of set are "knob=value" or "knob=value!". c is the new
// run's configuration, equal to the parent's except for the seed, and doc is the content of
// config.toml. lab.Restore begins the run. The folder shares the parent's data on disk, and
// exists completely or not at all, whatever ends the process. The checkpoint is kept as long
// as the parent exists; if the parent cannot be written to, said is the reason why it is not.
func (o *Origin) Fork(c config.Config, doc []byte, set []string, dir string) (said string, err error) {
	if err := o.fork(c, doc, set, dir); err != nil {
		return "", fmt.Errorf("fork %s: %w", o.from.Path, err)
	}
	if err := run.Keep(o.from.Path, "fork "+dir); err != nil {
		said = fmt.Sprintf("%s: the fork is whole without it", err)
	}
	return said, nil
}

func (o *Origin) fork(c config.Config, doc []byte, set []string, dir string) error {
	ck := *o.ck
	ck.Sections = slices.Clone(ck.Sections)
	position, err := branch(&c, &ck, set)
	if err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Dir(o.from.Path))
	folder, err := run.Build(dir, doc)
	if err != nil {
		return err
	}
	defer folder.Close()
	note := run.Line{Type: event.TypeNote, Step: ck.Step, Member: run.NoMember, WallS: float64(ck.WallS), Body: event.Noted{
		Text: event.ForkedAt + position.String(), Obs: event.KnobObs{By: o.from.Path},
	}}
	if err := folder.Inherit(parent, &ck, note); err != nil {
		return err
	}
	return folder.Publish()
}

// branch schedules the changes where the fork goes on, and returns that position. Under a new seed the
// prompts of what the parent generated cannot be drawn again.
func branch(c *config.Config, ck *run.Checkpoint, set []string) (knob.Position, error) {
	s, err := loopOf(ck)
	if err != nil {
		return knob.Position{}, err
	}
	at := s.entry(c)
	changes, err := s.changed(c, at, set)
	if err != nil {
		return knob.Position{}, err
	}
	if l := &s.Loop; l.Seed != c.Seed {
		l.Seed, l.OtherSeed, l.Asked.OtherSeed = c.Seed, l.Generations, true
	}
	s.Schedule = append(changes, knob.KnownAt(s.Position, s.Schedule)...)
	knob.SortSchedule(s.Schedule)
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return knob.Position{}, err
	}
	for i := range ck.Sections {
		if ck.Sections[i].Name == SectionLoop {
			ck.Sections[i].Content = b.Bytes()
		}
	}
	return at, nil
}

// entry returns where the fork goes on: at the position of the checkpoint, or after its env step, if
// that is the evaluation of a run that ended there, which a longer run does not make.
func (l *Loop) entry(c *config.Config) knob.Position {
	p, every := l.Position, c.Evaluation.Every
	if p.Phase == knob.Evaluate && c.Steps > p.Step && (every == 0 || !c.Reaches(p.Step, every)) {
		return knob.After(p.Step)
	}
	return p
}

// ParseChange reads "knob=value" or "knob=value!" as a change of a run of c at a position. The error is
// that of a text that no run of c can carry out; whether this one can, Fork finds out.
func ParseChange(c *config.Config, at knob.Position, text string) (knob.Scheduled, error) {
	change, err := knob.ParseScheduled(at.String() + ":" + text)
	if err != nil {
		return knob.Scheduled{}, errors.New("want knob=value")
	}
	_, _, err = c.ParseChange(change.Knob, change.Value)
	return change, err
}

// changed returns the changes of set, made at a position, in an order in which the fork can make all of
// them.
func (l *Loop) changed(c *config.Config, at knob.Position, set []string) (changes []knob.Scheduled, err error) {
	for _, text := range set {
		change, err := ParseChange(c, at, text)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	if changes, err = c.InOrder(l.Loop.Settings, changes); err != nil {
		return nil, err
	}
	settings := l.Loop.Settings
	for _, change := range changes {
		k, v, err := c.ParseChange(change.Knob, change.Value)
		if err == nil {
			err = redo.Idle(k, &settings, v, change.Now)
		}
		if err != nil {
			return nil, err
		}
		k.Set(&settings, v)
	}
	return changes, nil
}

// Changes returns the changes of set as they would be made from there in a run of c, with the values that
// the knobs have there.
func (o *Origin) Changes(c config.Config, set []string) ([]event.ForkedChange, error) {
	from := o.from
	s, err := loopOf(o.ck)
	if err != nil {
		return nil, fmt.Errorf("fork %s: %w", from.Path, err)
	}
	var all []event.ForkedChange
	for _, text := range set {
		change, err := ParseChange(&c, s.entry(&c), text)
		if err != nil {
			return nil, fmt.Errorf("fork %s: %w", from.Path, err)
		}
		k, to, err := c.ParseChange(change.Knob, change.Value)
		if err != nil {
			return nil, fmt.Errorf("fork %s: %w", from.Path, err)
		}
		all = append(all, event.ForkedChange{
			Knob: k.Name, From: k.Format(k.Get(&s.Loop.Settings)), To: k.Format(to), Now: change.Now && redo.Redone(k),
		})
	}
	return all, nil
}

// Sham returns what a fork without changes gets: the knobs keep their values, and what the changes
// make again is made again as well. Else the forks would differ by that, too.
func Sham(changes []event.ForkedChange) (set []string) {
	for _, c := range changes {
		if c.Now {
			set = append(set, c.Knob+"="+c.From+"!")
		}
	}
	return set
}

// loopOf returns the loop of a checkpoint.
func loopOf(ck *run.Checkpoint) (s Loop, err error) {
	content, ok := ck.Section(SectionLoop)
	if !ok {
		return s, errors.New("it holds no run")
	}
	if err := gob.NewDecoder(bytes.NewReader(content)).Decode(&s); err != nil {
		return s, version.ErrOther
	}
	return s, nil
}
