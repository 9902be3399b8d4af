// Package pty opens pseudo terminals on Linux: tests use them to read what a person would see and
// to press the keys that a person would press.
package pty
