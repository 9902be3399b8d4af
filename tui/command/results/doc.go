// Package results reads run folders as results, and keeps results in CSV files that go from
// machine to machine. report and sweep use it.
package results
