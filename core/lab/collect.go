package lab

import (
	"pgrlab/core/cost"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// at returns what the members read of the run.
func (x *experiment) at() replica.Now {
	return replica.Now{Step: x.Step, Settings: &x.Settings, Refit: x.changes.Todo() == knob.ClassRefit}
}

// collect makes one env step of every member, in all its copies of the environment: act, step,
// store. If an environment fails, the error is source.ErrEnvironment; members that have made
// their step by then do not make it twice.
func (x *experiment) collect() error {
	begin := x.now()
	for _, m := range x.members {
		if err := m.EnvStep(x.at()); err != nil {
			return err
		}
	}
	x.meter.On(cost.Act, begin)
	return nil
}
