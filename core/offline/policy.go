package offline

import (
	"bytes"
	"fmt"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/replica"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/version"
)

// Policy returns the policy of a member of a run at the checkpoint, as SavePolicy of its learner
// writes it, and the step of the checkpoint. It reads none of the data, and the run may go on
// meanwhile.
func (s Run) Policy(task task.Task, dev device.Device, member int) (saved []byte, step int, err error) {
	err = checkpoint.Contained(func() error { saved, step, err = s.policy(task, dev, member); return err })
	if err != nil {
		return nil, 0, fmt.Errorf("read the policy in the checkpoint of %s: %w", s.Dir, err)
	}
	return saved, step, nil
}

func (s Run) policy(task task.Task, dev device.Device, member int) ([]byte, int, error) {
	path, err := s.checkpoint()
	if err != nil {
		return nil, 0, err
	}
	if err := s.Config.Validate(); err != nil {
		return nil, 0, err
	}
	acts := s.Config
	acts.Steps = 1 // nothing is collected
	if err := acts.FitsInto(config.ThisMachine(), task); err != nil {
		return nil, 0, err
	}
	c, err := run.LoadCheckpoint(path, s.Config.Limit(task))
	if err != nil {
		return nil, 0, fmt.Errorf("%s %w", path, err)
	}
	section, ok := c.Section(fmt.Sprintf("%d/%s", member, replica.SectionAgent))
	if !ok {
		return nil, 0, version.ErrOther
	}
	parts, err := replica.NewParts(&s.Config, task, dev)
	if err != nil {
		return nil, 0, err
	}
	a, err := parts.Learner(nil, s.Config.Seed)
	if err != nil {
		return nil, 0, err
	}
	defer a.Close()
	if err := a.Load(bytes.NewReader(section)); err != nil {
		return nil, 0, err
	}
	var out bytes.Buffer
	err = a.SavePolicy(&out)
	return out.Bytes(), c.Step, err
}
