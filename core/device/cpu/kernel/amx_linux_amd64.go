package kernel

import (
	"fmt"
	"syscall"
)

// permitTiles asks Linux for the tile registers. Linux saves their state only for processes that
// ask (arch_prctl(2), since 5.16).
func permitTiles() error {
	const request, tileData = 0x1023, 18 // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
	if _, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, request, tileData, 0); errno != 0 {
		return fmt.Errorf("the kernel refuses the tile registers: %w", errno)
	}
	return nil
}
