package run

import (
	"errors"
	"path/filepath"
	"syscall"
)

// Free is the number of bytes that this user may still write on the file system of dir: 1 if it
// is full, 0 if it is not known.
func Free(dir string) int64 {
	var s syscall.Statfs_t
	for ; syscall.Statfs(dir, &s) != nil; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return 0
		}
	}
	return available(&s)
}

func available(s *syscall.Statfs_t) int64 {
	if s.Blocks == 0 { // the file system does not say
		return 0
	}
	return max(1, int64(s.Bavail)*int64(s.Bsize))
}

// IsFull says whether an error means that there is no room left, on the disk or in
// the user's quota.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
