//go:build !unix

package tui

import "errors"

type capture struct{}

func startCapture(string) (*capture, error) { return nil, errors.ErrUnsupported }

func (*capture) lines() []string { return nil }
func (*capture) stop()           {}
