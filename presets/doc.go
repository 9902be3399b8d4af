// Package presets says what to run: the numbers of every method and scale, the
// named presets, and the paper's own results to compare with.
//
// A configuration is task × method × scale. Each axis is a TOML file below
// data/, a layer that says only what it changes; Resolve lays them over each
// other (see Resolve for the order) and the result is complete. A method or scale is
// its file alone: what knobs it uses follows from what it says. What can be
// written in a layer is exactly what config.toml of a run holds, so the output
// of `pgrlab preset show` can be edited and given back with --preset FILE.
//
// Decoding is strict: a key that does not exist is an error with file, line and
// the nearest key that does. Numbers carry their source in a comment beside
// them; "PGR", "SynthER" and "REDQ" in those comments are the repositories
// renwang435/pgr, conglu1997/SynthER and watchernyu/REDQ, and "paper" is Wang et
// al., ICLR 2025.
//
// Lessons, below lessons/, explain one thing each by what a running lab shows of it.
package presets
