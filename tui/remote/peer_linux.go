package remote

import (
	"net"

	"golang.org/x/sys/unix"
)

// peer is the user whose process is at the other end: for a client the process that connected, for
// a lab the one that listens.
func peer(conn net.Conn) (uid int, known bool, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var found *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { found, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, false, err
	}
	if failed != nil {
		return 0, false, failed
	}
	return int(found.Uid), true, nil
}
