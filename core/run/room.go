package run

import (
	"errors"
	"path/filepath"
	"syscall"
)

// Free is the number of bytes that this user may still write on the file system of dir;
// 0 if it is not known.
func Free(dir string) int64 {
	var s syscall.Statfs_t
	for ; syscall.Statfs(dir, &s) != nil; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return 0
		}
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// IsFull says whether an error means that there is no room left, on the disk or in
// the user's quota.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
