package run

import (
	"syscall"
	"testing"
)

// A full disk is not taken for one of which nothing is known.
func TestAFullDiskIsKnown(t *testing.T) {
	for want, s := range map[int64]syscall.Statfs_t{
		0: {Bsize: 4096}, 1: {Bsize: 4096, Blocks: 10, Bfree: 2}, 8192: {Bsize: 4096, Blocks: 10, Bfree: 4, Bavail: 2},
	} {
		if got := available(&s); got != want {
			t.Errorf("%+v: %d bytes are free, want %d", s, got, want)
		}
	}
}
