// Package terminal is the terminal of this process: what it can show, its keys, its signals, and
// progress in lines.
package terminal
