package lab

import (
	"sync"
	"time"

	"pgrlab/core/device/adapt"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// cohort are the members by when they compute: those of a turn side by side, each on workers
// of its own, or one after another on all workers, whichever was quicker lately for the work
// at hand. Side by side nobody waits for another worker, but each works with the caches that
// the others leave it. It changes the time alone.
type cohort struct {
	place   *place
	turns   [][]*replica.Replica
	hosts   []*host         // by member
	lend    func(all bool)  // the workers to one member at a time; nil: each has only its own
	choices []*adapt.Choice // by phase
	errs    []error         // of the members, in a turn
}

// eachMember is cohort.each.
type eachMember func(p knob.Phase, work func(*replica.Replica) error) (failed *replica.Replica, err error)

// newCohort puts the members into turns of so many.
func newCohort(place *place, members []*replica.Replica, hosts []*host, p *parts) cohort {
	c := cohort{place: place, hosts: hosts, lend: p.lend, errs: make([]error, len(members))}
	for range knob.Phases {
		c.choices = append(c.choices, &adapt.Choice{})
	}
	for i := range members {
		if p.turns == nil {
			c.turns = append(c.turns, members[i:i+1])
		}
	}
	for _, n := range p.turns {
		c.turns = append(c.turns, members[:n:n])
		members = members[n:]
	}
	if c.lend != nil {
		c.lend(true)
	}
	return c
}

// each does some work of a phase with every member; it returns the first of them that has an
// error, and that: those behind it have done the work all the same. The work must not touch
// what belongs to the training goroutine but through the member's host.
func (c *cohort) each(p knob.Phase, work func(*replica.Replica) error) (failed *replica.Replica, err error) {
	abreast := true
	if c.lend != nil {
		choice, begin := c.choices[p], time.Now()
		abreast = choice.Choose() == adapt.Alone
		c.lend(!abreast)
		defer func() {
			choice.Record(time.Since(begin))
			c.lend(true) // for what members do but here
		}()
	}
	clear(c.errs)
	for _, turn := range c.turns {
		if len(turn) > 1 && abreast {
			c.sideBySide(turn, work)
			continue
		}
		for _, m := range turn {
			c.errs[m.Index] = work(m)
		}
	}
	for i, err := range c.errs {
		if err != nil {
			return c.hosts[i].member, err
		}
	}
	return nil, nil
}

// sideBySide does some work with the members of a turn, the first of them on the training
// goroutine. What the others have to say is said behind it.
func (c *cohort) sideBySide(turn []*replica.Replica, work func(*replica.Replica) error) {
	do := func(m *replica.Replica) { c.errs[m.Index] = c.place.guarded(func() error { return work(m) }) }
	var beside sync.WaitGroup
	for _, m := range turn[1:] {
		c.hosts[m.Index].aside = true
		beside.Go(func() { do(m) })
	}
	do(turn[0])
	beside.Wait()
	for _, m := range turn[1:] {
		c.hosts[m.Index].back()
	}
}
