package lab

import (
	"errors"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/cost"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// updates makes the updates of an env step.
type updates struct {
	now    func() time.Time
	at     replica.Now
	n      int     // how many are made at once
	spent  []spent // by member
	member func(*replica.Replica) error
}

// spent is where the time of a member's updates went.
type spent struct{ agent, models time.Duration }

// trainAgents makes the updates of the env step on every member (line 4), all at once if the
// agent's device can. A member makes all of its updates before the next one begins, so that
// their data stays in the caches.
func (x *experiment) trainAgents() error {
	if !x.first().Enough() {
		return nil
	}
	u, begin := &x.updates, x.now()
	if u.member == nil {
		u.now, u.spent, u.member = x.now, make([]spent, len(x.members)), u.train
	}
	u.at, u.n = x.at(), 1
	if x.first().Fused() {
		u.n = x.Settings.UTD
	}
	clear(u.spent)
	_, err := x.cohort.each(knob.Collect, u.member)
	var all spent
	for _, s := range u.spent {
		all.agent, all.models = all.agent+s.agent, all.models+s.models
	}
	x.meter.Together(begin, cost.Share{Part: cost.Agent, Own: all.agent}, cost.Share{Part: cost.Models, Own: all.models})
	return err
}

// train makes the updates of a member.
func (u *updates) train(m *replica.Replica) error {
	for i := 0; i < u.at.Settings.UTD; i += u.n {
		if err := u.some(m, i+u.n == u.at.Settings.UTD); err != nil {
			return err
		}
	}
	return nil
}

// some makes n updates of a member (lines 7 and 3). Each is one critic update on a batch mixed
// by r, and the other updates where the agent's schedule has them. Models that are trained
// beside the agent take their steps between its updates, or after them if these are one launch;
// the updates do not depend on the models. So steps after one launch are begun before it, for a device that
// goes on with both. last says that the updates end the env step.
func (u *updates) some(m *replica.Replica, last bool) error {
	begin := u.now()
	if last && m.Fused() {
		if err := m.Functions.Begin(u.at); err != nil {
			return err
		}
	}
	made, err := m.Update(u.at, u.n, last)
	trained := u.now()
	if err == nil {
		err = u.learned(m, made, last)
	}
	s := &u.spent[m.Index]
	s.agent, s.models = s.agent+trained.Sub(begin), s.models+u.now().Sub(trained)
	return errors.Join(err, m.Functions.End())
}

// learned takes the results of a member's updates, and makes the models' steps.
func (u *updates) learned(m *replica.Replica, made []agent.UpdateResult, last bool) error {
	for i := range u.n {
		if i < len(made) {
			if err := m.Learned(&made[i]); err != nil {
				return err
			}
		}
		if err := m.Functions.Train(u.at, last && i == u.n-1); err != nil {
			return err
		}
	}
	return nil
}
