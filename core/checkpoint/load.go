package checkpoint

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/version"
)

// Into is the target into which a checkpoint is loaded: a run that has not begun, or the
// members of a run that is only inspected. After an error no part of it may be used.
type Into struct {
	Config  *config.Config // of the run
	Task    task.Task
	Members []*replica.Replica
	Loop    func(*Loop)       // receives the validated state that belongs to no member
	Say     func(text string) // reports a step that takes long; may be nil

	at    knob.Position // where the run was saved
	calls int           // made of the generator in the generation under way
}

// Load loads the checkpoint at path, of the run in folder dir. remarks are for the user.
func (i Into) Load(path, dir string) (remarks []string, err error) {
	err = Contained(func() error {
		c, err := run.LoadCheckpoint(path, i.Config.Limit(i.Task))
		if err != nil {
			return err
		}
		remarks, err = i.load(dir, c)
		return err
	})
	return remarks, err
}

func (i *Into) load(dir string, c *run.Checkpoint) (remarks []string, err error) {
	logs := i.logs()
	for _, d := range c.Data {
		limit := i.Config.Limit(i.Task)
		if l, is := logs[d.Name]; is {
			limit = l.limit
		}
		if err := limit.Check(d); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, s := range c.Sections {
		names = append(names, s.Name)
	}
	data := map[string]run.Data{}
	for _, d := range c.Data {
		data[d.Name] = d
		if name := strings.TrimSuffix(d.Name, RebuildSuffix); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	err = i.LoadSections(names, func(name string, load func(io.Reader) error) error {
		content, _ := c.Section(name)
		if d, lean := data[name+RebuildSuffix]; lean {
			remark, err := i.remake(name, d, dir)
			remarks = append(remarks, remark...)
			return err
		}
		d, shared := data[name]
		if !shared {
			rest := bytes.NewReader(content)
			if err := load(rest); err != nil {
				return err
			}
			if rest.Len() > 0 {
				return fmt.Errorf("%d bytes were not read", rest.Len())
			}
			return nil
		}
		log, grows := logs[name]
		if len(d.Pieces) == 0 && !grows {
			return fmt.Errorf("%s has no pieces", name)
		}
		if err := d.Verify(dir); err != nil {
			return err
		}
		from, err := d.Open(dir)
		if err != nil {
			return err
		}
		defer from.Close()
		if grows {
			return log.load(content, from, d)
		}
		return load(from)
	})
	return remarks, err
}

// LoadSections loads all sections with get. names lists the saved sections: every section
// that is needed must be among them, and none may be left over.
func (i *Into) LoadSections(names []string, get func(name string, load func(r io.Reader) error) error) error {
	left := slices.Clone(names)
	load := func(name string, part func(io.Reader) error) error {
		at := slices.Index(left, name)
		if at < 0 {
			return fmt.Errorf("load run: %s was not saved", name)
		}
		left = slices.Delete(left, at, at+1)
		if err := get(name, part); err != nil {
			return fmt.Errorf("load run: %s: %w", name, err)
		}
		return nil
	}
	if err := load(SectionLoop, i.loadLoop); err != nil {
		return err
	}
	for _, m := range i.Members {
		for _, s := range m.Sections() {
			if err := load(s.Name, s.Part.Load); err != nil {
				return err
			}
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("load run: %s: %w", strings.Join(left, ", "), version.ErrOther)
	}
	if err := i.checkLoaded(i.at); err != nil {
		return fmt.Errorf("load run: its parts do not go together: %w", err)
	}
	return nil
}

// loadLoop gives the members the shape that they had when they were saved, so that their own
// sections can be loaded next.
func (i *Into) loadLoop(r io.Reader) error {
	s, err := ReadLoop(r)
	if err != nil {
		return err
	}
	if len(s.Members) != len(i.Members) {
		return fmt.Errorf("%d members are saved, the cohort has %d", len(s.Members), len(i.Members))
	}
	if copies := i.Config.Environment.InLockstep(); copies > 1 && s.Loop.Copies != copies {
		return fmt.Errorf("it counts the steps of %d copies of the environment, the run has %d", s.Loop.Copies, copies)
	}
	if err := i.validate(s); err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	i.at, i.calls = s.Position, cmp.Or(s.Loop.Calls, s.Position.I) // some were saved before calls were counted
	i.Loop(s)
	for k, m := range i.Members {
		if err := m.Restore(s.Members[k], s.Loop.Settings.Relevance); err != nil {
			return err
		}
	}
	return nil
}
