//go:build race

package lab

// resumedOf: the race detector takes ten times as long, and what a run does behind a border
// it sees from a few of them.
const resumedOf = 7
