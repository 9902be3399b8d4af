package remote

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// servable refuses clients of other people, which the folder's mode should have kept out already.
// The administrator may do everything anyway.
func servable(conn net.Conn) error {
	if uid, known, err := peer(conn); err != nil {
		return err
	} else if known && uid != os.Getuid() && uid != 0 {
		return foreign(uid)
	}
	return nil
}

// trusted refuses a lab of another user before anything is sent to it: its screen would write to
// this terminal. A lab started by the administrator is not ours either.
func trusted(conn net.Conn) error {
	if uid, known, err := peer(conn); err != nil {
		return err
	} else if known && uid != os.Getuid() {
		return foreign(uid)
	}
	return nil
}

func foreign(uid int) error {
	return fmt.Errorf("it belongs to another user (uid %d): ask as that user", uid)
}

// ownedBy is the user that a file belongs to; if the system does not say, the user of this process.
func ownedBy(info fs.FileInfo) (uid int) {
	if s, known := info.Sys().(*syscall.Stat_t); known {
		return int(s.Uid)
	}
	return os.Getuid()
}
