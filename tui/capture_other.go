//go:build !unix

package tui

import "errors"

type capture struct{}

func startCapture(Options) (*capture, error) { return nil, errors.ErrUnsupported }

func (*capture) lines() []string { return nil }
func (*capture) stop()           {}
