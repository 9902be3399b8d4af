package offline

import (
	"errors"
	"fmt"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/inspect"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/replica"
	"pgrlab/core/task"
)

// opened is a saved run that was loaded for inspection: its members and the saved state of the
// loop.
type opened struct {
	config  config.Config
	task    task.Task // as the run plays it
	parts   replica.Parts
	members []*replica.Replica
	loop    *checkpoint.Loop
}

// open loads the checkpoint.
func (s Run) open(task task.Task, dev device.Device) (*opened, error) {
	failed := func(err error) (*opened, error) { return nil, fmt.Errorf("examine %s: %w", s.Dir, err) }
	task, err := task.Played(s.Config.Played())
	if err != nil {
		return failed(err)
	}
	path, err := s.checkpoint()
	if err != nil {
		return failed(err)
	}
	o := &opened{config: s.Config, task: task}
	if o.parts, err = replica.NewParts(&o.config, task, dev); err != nil {
		return failed(err)
	}
	if err := o.config.FitsInto(config.ThisMachine(), task); err != nil {
		return failed(err)
	}
	cohort := replica.Cohort{Config: &o.config, Task: task, Parts: o.parts, Host: deaf{}}
	for i := range o.config.Members {
		m, err := replica.New(cohort, i)
		if err != nil {
			o.Close()
			return failed(err)
		}
		o.members = append(o.members, m)
	}
	into := checkpoint.Into{Config: &o.config, Task: task, Members: o.members, Loop: func(l *checkpoint.Loop) { o.loop = l }}
	if _, err := into.Load(path, s.Dir); err != nil {
		o.Close()
		return failed(err)
	}
	return o, nil
}

// Close releases the members.
func (o *opened) Close() {
	for _, m := range o.members {
		m.Close()
	}
}

// view is a member as it was saved.
func (o *opened) view(m *replica.Replica) inspect.View {
	c := &o.loop.Loop
	return m.View(replica.Now{Step: c.Step, Settings: &c.Settings}, c.Fitted, c.Asked)
}

// deaf is the host of members that are not trained. It ignores their reports, and lets them go on
// after numbers have diverged, as in a run whose faults were resumed.
type deaf struct{}

func (deaf) Emit(string, int, any)        {}
func (deaf) Sampled(int, replay.Mix, int) {}
func (deaf) Fault(int, string, error)     {}
func (deaf) Diverged(_ int, _ string, err error) error {
	if where := (*plan.NotFinite)(nil); errors.As(err, &where) {
		return nil
	}
	return err
}
