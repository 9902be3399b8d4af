package relevance

import "maps"

// Configs are the settings of relevance functions by name: a table.Set. It is a value;
// With makes another one. A function that it lacks has its default settings.
type Configs map[string]Config

// Defaults are the default settings of every function that has some.
func (Configs) Defaults() map[string]any {
	all := map[string]any{}
	for _, s := range specs {
		if s.Config != nil {
			all[s.Name] = s.Config
		}
	}
	return all
}

// Of are the settings of the function of that name, nil where it has none.
func (c Configs) Of(name string) Config {
	if own, ok := c[name]; ok {
		return own
	}
	s, err := Find(name)
	if err != nil {
		return nil
	}
	return s.Config
}

// Pace is the cadence of the function of that name; zero where it makes no steps.
func (c Configs) Pace(name string) Cadence {
	if p, ok := c.Of(name).(Paced); ok {
		return p.Pace()
	}
	return Cadence{}
}

// skipsRespawns is a Config of a function that may have no part in respawns.
type skipsRespawns interface{ SkipsRespawns() bool }

// SkipsRespawns says whether the function of that name learns nothing from transitions whose
// note says Respawned, and says 0 of them.
func (c Configs) SkipsRespawns(name string) bool {
	s, may := c.Of(name).(skipsRespawns)
	return may && s.SkipsRespawns()
}

// With is c with other settings of a function.
func (c Configs) With(name string, settings Config) Configs {
	other := maps.Clone(c)
	if other == nil {
		other = Configs{}
	}
	other[name] = settings
	return other
}
