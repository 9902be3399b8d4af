// Package optest is one table of cases for every implementation of an operation:
// the reference against finite differences, a device against the reference. Only
// tests import it.
//
// A Case builds an operation for a Shape; All is the table. A case for each
// operation is what a test of this package's importers holds the table to.
package optest
