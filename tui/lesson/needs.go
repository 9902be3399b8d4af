package lesson

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/presets"
	"pgrlab/tui/format"
)

// takes is how many env steps of the run a lesson takes from now on: those until the last
// evaluation or generation that it waits for. It is math.MaxInt if no refit will come.
func (x *Lessons) takes(l presets.Lesson) int {
	if x.Snap == nil || x.About.Replay || x.About.Config.Dreams() { // a generation comes when it is asked for
		return 0
	}
	at := x.Snap.Step
	for _, s := range l.Steps {
		if s.Wait == nil {
			continue
		}
		count := max(1, s.Wait.Count)
		if s.Wait.Ever {
			count -= x.happened()[s.Wait.For]
		}
		switch s.Wait.For {
		case "evaluated":
			every := max(1, x.About.Config.Evaluation.Every)
			at = max(at, (at/every+max(0, count))*every)
		case "generated":
			if slices.ContainsFunc(s.Set, func(set string) bool { return set[len(set)-1] == '!' }) {
				count-- // made at once
			}
			for range count {
				if at = x.refitAfter(at); at == math.MaxInt {
					return at
				}
			}
		}
	}
	return at - x.Snap.Step
}

// refitAfter is the first env step after a step at which the generator is due to be fitted;
// math.MaxInt: none is.
func (x *Lessons) refitAfter(step int) int {
	every := max(1, int(x.Effective("refit_every").Number))
	next := x.Snap.Step + x.NextRefit()
	if x.NextRefit() == 0 {
		return math.MaxInt
	}
	if step >= next {
		next += ((step-next)/every + 1) * every
	}
	return next
}

// short says why the run is too short for a lesson; "": it is not.
func (x *Lessons) short(l presets.Lesson) string {
	if x.Snap == nil || x.About.Replay {
		return ""
	}
	left, takes := x.Snap.Steps-x.Snap.Step, x.takes(l)
	switch {
	case takes == math.MaxInt:
		return "waits for a refit, and none is to come"
	case takes >= left && takes > 0: // its last wait must be over before the run is
		return fmt.Sprintf("takes %s steps, and %s are left", format.Count(takes), format.Count(left))
	}
	return ""
}

// cost is what a lesson takes, for the list.
func (x *Lessons) cost(l presets.Lesson) string {
	text := fmt.Sprintf("about %d min", l.Minutes)
	if steps := x.takes(l); steps > 0 {
		text += fmt.Sprintf(", %s steps", format.Count(steps)) // more than are left: short says so
	}
	return text
}

// listed are the lessons in the order of the list: first those that are about what this run has and
// other runs have not.
func (x *Lessons) listed() []presets.Lesson {
	all := presets.Lessons()
	slices.SortStableFunc(all, func(a, b presets.Lesson) int { return x.rank(a) - x.rank(b) })
	return all
}

func (x *Lessons) rank(l presets.Lesson) int {
	switch {
	case l.Bonus != "" && l.Bonus == x.About.Config.Bonus.Function:
		return 0
	case l.Needs == "tv" && x.uses("tv"), l.Imagines && x.About.Config.Imagines():
		return 0
	}
	return 1
}

func (x *Lessons) uses(name string) bool {
	k, err := knob.Find(name)
	return err == nil && x.KnobUse(k) == nil
}

// summary is what a lesson that was gone through has shown, and the next one that fits.
func (x *Lessons) summary(l *Lesson) string {
	good, decided, all := 0, 0, 0
	for _, s := range l.Steps {
		if r := s.Reveal; r != nil {
			all++
			switch judge(*r, l.kept[r.From], l.kept[r.To]) {
			case held:
				good, decided = good+1, decided+1
			case didNotHold:
				decided++
			}
		}
	}
	text := fmt.Sprintf("lesson over, %s: %d of %d claims held", x.Spelled(l.Title), good, all)
	if decided < all {
		text += fmt.Sprintf(", %d undecided", all-decided)
	}
	for _, next := range x.listed() {
		if _, err := x.lessonFits(next); err == nil && !x.gone[next.Name] {
			return text + "; T goes on with: " + x.Spelled(next.Title)
		}
	}
	return text
}

// idle is lessonFits for what a lesson waits for, and for what it sets: a step that sets what is in force
// already would be waited for in vain, or compare a thing with itself.
func (x *Lessons) idle(l presets.Lesson) (missing string, err error) {
	c := &x.About.Config
	if x.About.Replay || c.Dreams() || x.Snap == nil {
		return "", nil
	}
	will := map[string]knob.Value{}
	for _, s := range l.Steps {
		if s.Wait != nil && s.Wait.For == "evaluated" && c.Evaluation.Every == 0 {
			return "needs evaluations", fmt.Errorf("lesson %s: the run is not evaluated: begin it in one with evaluation.every above 0", l.Name)
		}
		changes := len(s.Set) == 0
		for _, text := range s.Set {
			a, err := x.ParseAssignment(text)
			if err != nil {
				return err.Error(), fmt.Errorf("lesson %s: %w", l.Name, err)
			}
			now, set := will[a.Knob.Name]
			if !set {
				now = x.coming(a.Knob.Name)
			}
			changes = changes || now != a.Value
			will[a.Knob.Name] = a.Value
		}
		if !changes {
			all := strings.Join(s.Set, ", ")
			return "the run has " + all + " already", fmt.Errorf("lesson %s: the run has %s already: give it another value first", l.Name, all)
		}
	}
	return "", nil
}

// lessonFits returns an error if the run lacks what a lesson is about, which missing says in a few words.
func (x *Lessons) lessonFits(l presets.Lesson) (missing string, err error) {
	c := &x.About.Config
	switch {
	case x.About.Replay && !l.Looks():
		return "sets knobs: needs a run", fmt.Errorf("lesson %s: it sets knobs, and this is a replay: begin it in a run, with pgrlab, then T", l.Name)
	case l.Dreams && !c.Dreams():
		return "needs data without an agent: pgrlab dream", fmt.Errorf("lesson %s: this run has an agent: begin it in pgrlab dream", l.Name)
	case !l.Dreams && c.Dreams():
		return "needs an agent", fmt.Errorf("lesson %s: this run has no agent: begin it in a run that trains", l.Name)
	}
	if l.Bonus != "" && c.Bonus.Function != l.Bonus {
		return "needs ppo-" + l.Bonus + " in a maze", fmt.Errorf("lesson %s: %s has no bonus %s: begin it in a run of ppo-%s in a maze", l.Name, c.Method, l.Bonus, l.Bonus)
	}
	if l.Imagines && !c.Imagines() {
		return "needs dreamerv3", fmt.Errorf("lesson %s: the learner of %s has no model of the world: begin it in a run of dreamerv3", l.Name, c.Method)
	}
	if l.Needs != "" {
		k, err := knob.Find(l.Needs)
		if err == nil {
			err = x.KnobUse(k)
		}
		if err != nil {
			return c.Method + " does not use " + l.Needs, fmt.Errorf("lesson %s: %w", l.Name, err)
		}
	}
	if slices.ContainsFunc(l.Steps, func(s presets.Step) bool { return s.Wait != nil && s.Wait.For == "grounded" }) {
		if err := c.CheckGround(); err != nil {
			return "needs one seed, evaluations, and an agent with single updates", fmt.Errorf("lesson %s: %w", l.Name, err)
		}
	}
	if missing, err := x.idle(l); err != nil {
		return missing, err
	}
	if short := x.short(l); short != "" {
		return short, fmt.Errorf("lesson %s: it %s: begin it in a longer run (--steps)", l.Name, short)
	}
	return "", nil
}
