// Package watch is the command watch: a task under a policy, in the terminal or as PNG files.
package watch
