package config

import (
	"cmp"
	"slices"

	"pgrlab/core/knob"
)

// ParseChange parses the knob and the value of a change. An error says why a run of c cannot make it,
// whatever its other knobs are.
func (c *Config) ParseChange(name, text string) (knob.Knob, knob.Value, error) {
	k, err := knob.Find(name)
	if err != nil {
		return knob.Knob{}, knob.Value{}, err
	}
	if err := c.Uses(k); err != nil {
		return knob.Knob{}, knob.Value{}, err
	}
	v, err := k.Parse(c.Written(k.Name, text))
	if err == nil && k.Name == "relevance" {
		err = c.CanMeet(v.Text)
	}
	return k, v, err
}

// InOrder returns changes in an order in which a run with settings s can make all of them: as they are
// given, except that a change waits for others without which it would not fit. An error says why there
// is none.
func (c *Config) InOrder(s knob.Settings, given []knob.Scheduled) (changes []knob.Scheduled, err error) {
	for given = slices.Clone(given); len(given) > 0; {
		i, err := c.makeFirst(&s, given)
		if err != nil {
			return nil, err
		}
		changes, given = append(changes, given[i]), slices.Delete(given, i, i+1)
	}
	return changes, nil
}

// makeFirst makes the first change that fits and is after none of the same knob. It returns which one
// that was, or an error if none fits.
func (c *Config) makeFirst(s *knob.Settings, given []knob.Scheduled) (made int, err error) {
	for i, g := range given {
		after := *s
		refused := after.Set(g.Knob, g.Value)
		if refused == nil {
			refused = c.Fits(&after)
		}
		if refused == nil && !slices.ContainsFunc(given[:i], func(e knob.Scheduled) bool { return e.Knob == g.Knob }) {
			*s = after
			return i, nil
		}
		err = cmp.Or(err, refused)
	}
	return 0, err
}
