// Package pty opens pseudo terminals on Linux: the terminals of tests, which read
// what a person would see and press what a person would press.
package pty
