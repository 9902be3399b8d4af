// Package cli is what all commands have in common: Deps, which the program fills with tasks,
// devices and the screen; arguments, flags and help; errors with their exit status; the writing of
// files and tables.
package cli
