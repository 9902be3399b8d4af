// Package terminal is the terminal of this process: what it can show, its keys, the signals
// that it sends, and progress in lines.
package terminal
