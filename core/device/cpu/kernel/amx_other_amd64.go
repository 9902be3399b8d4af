//go:build !linux

package kernel

import "errors"

func permitTiles() error { return errors.New("tile registers are used on Linux only") }
