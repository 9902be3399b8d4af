// Package presets says what to run: it has the numbers of every method and scale, the named
// presets, and the paper's own results to compare with.
//
// A configuration is task × method × scale. Each axis is a TOML file below data/, a layer that
// contains only what it changes; Resolve lays the layers over each other (see Resolve for the
// order), and the result is complete. A method's numbers are in its file, a scale's in its file and
// folder; what is special to two of them is in data/pair. Which knobs a method uses follows from its
// file. A layer can contain exactly what a run's config.toml contains, so
// the output of `pgrlab preset show` can be edited and passed back with --preset FILE.
//
// Decoding is strict: a key that does not exist is an error with file, line and
// the nearest key that does. Numbers carry their source in a comment beside
// them; "PGR", "SynthER" and "REDQ" in those comments are the repositories
// renwang435/pgr, conglu1997/SynthER and watchernyu/REDQ, and "paper" is Wang et
// al., ICLR 2025.
//
// Each lesson below lessons/ explains one thing by what a running lab shows of it.
package presets
