package checkpoint

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// Into is what a checkpoint is loaded into: a run that has not begun, or the members of one
// that somebody looks at. On an error nothing of it must be used any further.
type Into struct {
	Config  *config.Config // of the run
	Task    task.Task
	Members []*replica.Replica
	Loop    func(*Loop)       // takes what is no member's, which is valid
	Tell    func(text string) // hears what takes its time; nil: nobody does

	at knob.Position // where the run was saved
}

// Load loads the checkpoint at path, of the run in folder dir. remarks are for people.
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

// LoadSections loads the sections that get loads. names are those that were saved; all must
// be there and none be left.
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
		return fmt.Errorf("load run: this version does not know %s", strings.Join(left, ", "))
	}
	if err := i.checkLoaded(i.at); err != nil {
		return fmt.Errorf("load run: its parts do not go together: %w", err)
	}
	return nil
}

// loadLoop brings the members into the shape that they were saved in, for their own sections
// to follow.
func (i *Into) loadLoop(r io.Reader) error {
	s, err := ReadLoop(r)
	if err != nil {
		return err
	}
	if len(s.Members) != len(i.Members) {
		return fmt.Errorf("%d members are saved, the cohort has %d", len(s.Members), len(i.Members))
	}
	if err := i.validate(s); err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	i.at = s.Position
	i.Loop(s)
	for k, m := range i.Members {
		if err := m.Restore(s.Members[k], s.Loop.Settings.Relevance); err != nil {
			return err
		}
	}
	return nil
}
