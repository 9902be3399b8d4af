// Package watch is the command watch: it shows a task under a policy, in the terminal or as PNG
// files.
package watch
