// Package fan decides whether forks with a change return more than forks without it.
//
// The forks of a fan go on from one checkpoint, each with random numbers of its own: a state and a
// seed in common make two forks alike for a few hundred steps only. Chance decides which of them get
// the change (Deal). If the change does nothing, every other way to deal it out was as likely, so the
// returns themselves say how large a difference chance makes, whatever their distribution: an exact
// randomization test (Fisher 1935) of the difference of the means.
//
// Judge looks at fixed places: once all forks have made six tenths of their evaluations, once they
// have made all, and once after each batch of forks that is added. The looks share one error of less
// than 5 %, of which .01, .03, .04, .045, … may be spent by each (Lan and DeMets 1983; for
// randomization tests Plamadeala and Rosenberger 2012). So the verdict may be read after every
// evaluation, and forks may be added because it was not enough.
//
// A fork that failed counts with the least return that its task has (NewBatch). It is never left out,
// because which forks fail may depend on the change.
//
// The package computes with numbers alone: it reads and writes nothing.
package fan
