// Package report has the commands that make documents of runs: report compares them, card
// describes one, export hands its numbers, policy and transitions to other programs.
package report
