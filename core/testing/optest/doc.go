// Package optest has one table of test cases for every implementation of an operation:
// the reference is compared with finite differences, a device with the reference. Only
// tests import it.
//
// A Case builds an operation for a Shape; All is the table. A test in the importing
// packages requires a case for each operation.
//
// An Example is an instance of a case, or a whole graph: its Program, compiled for a device,
// is compared with Gorgonia's TapeMachine, which runs the reference in float64.
package optest
