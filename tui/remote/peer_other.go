//go:build !linux

package remote

import "net"

// peer relies on the owners and modes of socket and folder.
func peer(net.Conn) (uid int, known bool, err error) { return 0, false, nil }
