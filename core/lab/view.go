package lab

import (
	"pgrlab/core/config"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// views show the members of a run to package inspect, as they are between two slices. They
// only read.
type views struct {
	config    *config.Config
	place     *place
	settings  *knob.Settings
	synthesis *synthesis
}

// of returns the view of a member as it is now.
func (v *views) of(m *replica.Replica) inspect.View {
	return m.View(replica.Now{Step: v.place.Step, Settings: v.settings}, v.synthesis.Fitted, v.synthesis.Asked)
}

// as returns the view of a member under settings s, which the run may have changed since.
func (v *views) as(m *replica.Replica, s knob.Settings) (inspect.View, error) {
	return m.ViewAs(v.of(m), s)
}
