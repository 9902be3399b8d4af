// Package results reads run folders as results, and keeps results in CSV files that can be moved
// between machines. report and sweep use it.
package results
