// Package report has the commands that make documents from runs: report compares runs, card
// describes one, and export gives its numbers, policy and transitions to other programs.
package report
