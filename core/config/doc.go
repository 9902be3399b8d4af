// Package config describes everything that a run is made from, fully resolved, and what follows
// from that alone: whether its parts go together (Validate), and how much memory they need (Memory,
// FitsInto). Code that shows, compares or writes configurations needs this package, and no learner
// that runs.
//
// config.go has Config, parts.go the settings of its parts, validate.go and bounds.go what
// is refused.
package config
