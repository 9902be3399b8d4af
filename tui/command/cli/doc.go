// Package cli is what all commands have in common: Deps, which the program fills with tasks,
// devices and the screen; arguments, flags and help; errors with their exit status; files and
// tables that are written.
package cli
