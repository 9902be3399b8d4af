// Package dry is a GPU that executes nothing. Package cuda lowers, binds, captures and launches on it
// what it would on a card, and everything is counted: how often which program runs, with how many
// launches, floating-point operations and bytes. So a change that adds launches is seen on a machine
// without a GPU. What programs compute is not there: outputs are 0.
//
// # Counts
//
// Launches, uploads and downloads are what reaches the driver, those that lay weights out included.
// Floating-point operations are those of device.Program.FLOPs. Bytes are those of every operand of every
// launch, each once and whole, as if nothing were in a cache between two launches; weights, moments and
// averages that a step updates in place count twice.
//
// # Model of time
//
// A program takes a fixed time for each of its launches, its arithmetic at the rate of its kernels, and its bytes at the rate
// of the memory (Rates), one after the other: today's kernels overlap them little. What runs beside other
// programs counts as if the card had room for both. The host is not in it: between the
// steps of a fit it takes a quarter of a millisecond. A test holds the model to the times of a card.
package dry
