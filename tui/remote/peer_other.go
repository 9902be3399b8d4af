//go:build !linux

package remote

import "net"

// sameUser relies on the modes of socket and folder.
func sameUser(net.Conn) error { return nil }
