// Package config is everything that a run is made from, fully resolved, and what follows
// from that alone: whether its parts go together (Validate), what they need of memory
// (Memory, FitsInto), and how long a run takes where the costs of its parts are known
// (Lasts). Whoever shows, compares or writes configurations needs this package and no
// learner that runs.
//
// config.go has Config, parts.go the settings of its parts, validate.go and bounds.go what
// is refused.
package config
