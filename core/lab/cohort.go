package lab

import (
	"sync"
	"time"

	"pgrlab/core/device/adapt"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
)

// cohort decides when the members compute. The members of a turn compute side by side, each on
// workers of its own, or one after another on all workers, whichever was quicker lately for the
// work at hand. Side by side, no worker waits for that of another member, but each has only the
// caches that the others leave it. The choice affects the time alone.
type cohort struct {
	place   *place
	turns   [][]*replica.Replica
	hosts   []*host         // by member
	lend    func(all bool)  // gives all workers to one member at a time, or each its own; nil: each always has its own
	choices []*adapt.Choice // by phase
	errs    []error         // by member
}

// eachMember is the type of cohort.each.
type eachMember func(p knob.Phase, work func(*replica.Replica) error) (failed *replica.Replica, err error)

// newCohort divides the members into the turns of p.
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

// each does some work of a phase with every member. It returns the first member that failed, and
// its error; the members after it have done the work all the same. The work may touch what
// belongs to the training goroutine only through the member's host.
func (c *cohort) each(p knob.Phase, work func(*replica.Replica) error) (failed *replica.Replica, err error) {
	abreast := true
	if c.lend != nil {
		choice, begin := c.choices[p], time.Now()
		abreast = choice.Choose() == adapt.Alone
		c.lend(!abreast)
		defer func() {
			choice.Record(time.Since(begin))
			c.lend(true) // for what members do elsewhere
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
// goroutine. What the others report meanwhile is passed on when all are done.
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
