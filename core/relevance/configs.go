package relevance

import "maps"

// Configs holds the settings of relevance functions by name; it is a table.Set. It is a value: With
// returns another one. A function without an entry has its default settings.
type Configs map[string]Config

// Defaults returns the default settings of every function that has settings.
func (Configs) Defaults() map[string]any { return specs.Defaults() }

// Of returns the settings of the function of that name, nil if it has none.
func (c Configs) Of(name string) Config { return specs.Settings(c, name) }

// Pace is the cadence of the function of that name; zero if it makes no steps.
func (c Configs) Pace(name string) Cadence {
	if p, ok := c.Of(name).(Paced); ok {
		return p.Pace()
	}
	return Cadence{}
}

// With returns c with other settings for the function of that name.
func (c Configs) With(name string, settings Config) Configs {
	other := maps.Clone(c)
	if other == nil {
		other = Configs{}
	}
	other[name] = settings
	return other
}
