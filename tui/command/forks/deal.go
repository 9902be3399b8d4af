package forks

import (
	"fmt"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/fan"
	"pgrlab/core/knob"
	"pgrlab/core/rng"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/rundir"
)

// Kinds name the folders of forks without a change and with it.
type Kinds [2]string

// The kinds of forks that are compared: of a change, of nothing, and of runs from step 0 that repeat the
// changes of a run.
var (
	OfChange    = Kinds{"control", "changed"}
	OfNothing   = Kinds{"placebo-a", "placebo-b"}
	OfSchedules = Kinds{"unchanged", "confirm"}
)

// Deal deals a change out to n of 2n forks of a run of c. Each fork has a seed of its own, which no
// fork beside it has: forks with one seed would be one fork. prefix begins the names of their folders.
func Deal(c config.Config, n int, prefix string, kinds Kinds) []event.ForkMade {
	var made []event.ForkMade
	for i := 1; len(made) < 2*n; i++ {
		if seed := c.Disjoint(i); !taken(prefix, seed) {
			made = append(made, event.ForkMade{Seed: seed})
		}
	}
	for i, changed := range fan.Deal(rng.New(made[0].Seed, "forks: deal"), n) {
		f := &made[i]
		f.Changed, f.Dir = changed, named(prefix, kinds[0], f.Seed)
		if changed {
			f.Dir = named(prefix, kinds[1], f.Seed)
		}
	}
	return made
}

func named(prefix, kind string, seed uint64) string {
	return fmt.Sprintf("%s-%s-s%d", prefix, kind, seed)
}

// taken says whether there is a fork with that seed.
func taken(prefix string, seed uint64) bool {
	for _, kinds := range []Kinds{OfChange, OfNothing, OfSchedules} {
		for _, kind := range kinds {
			if rundir.Exists(named(prefix, kind, seed)) {
				return true
			}
		}
	}
	return false
}

// Make makes the folders of forks from a checkpoint of a run whose configuration, but for the seed, is
// c. Half of them get the changes of set; if these make something again, so do the others. It returns
// what it has made also with an error; say gets messages for the person.
func Make(c config.Config, from run.Found, set []string, n int, prefix string, say func(string)) (made event.Forked, err error) {
	origin, err := checkpoint.Open(c, from)
	if err != nil {
		return made, err
	}
	if made.Changes, err = origin.Changes(c, set); err != nil {
		return made, err
	}
	for _, c := range made.Changes {
		if c.From == c.To {
			return made, fmt.Errorf("fork: %s is %s there already: forks with that change and without would be alike", c.Knob, c.From)
		}
	}
	made.From, made.Steps, made.Every = knob.After(from.Step), c.Steps-from.Step, c.Evaluation.Every
	kinds := OfChange
	if len(set) == 0 {
		kinds = OfNothing
	}
	for _, f := range Deal(c, n, prefix, kinds) {
		c.Seed = f.Seed
		turned := checkpoint.Sham(made.Changes)
		if f.Changed {
			turned = set
		}
		doc, err := presets.Encode(c)
		if err != nil {
			return made, err
		}
		said, err := origin.Fork(c, doc, turned, f.Dir)
		if err != nil {
			return made, err
		}
		if said != "" {
			say(said)
		}
		made.Forks = append(made.Forks, f)
	}
	return made, nil
}
