package pty

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Open opens a pseudo terminal with the given number of columns and rows. It returns the person's
// side, whose reads end when it is closed, and the program's side. The caller must close both.
func Open(columns, rows int) (person, program *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a pseudo terminal: %w", err)
	}
	person = os.NewFile(uintptr(fd), "ptmx")
	program, err = other(fd)
	if err == nil {
		err = Resize(program, columns, rows)
	}
	if err != nil {
		person.Close()
		return nil, nil, fmt.Errorf("open a pseudo terminal: %w", err)
	}
	return person, program, nil
}

// other opens the program's side of the terminal whose other side is fd.
func other(fd int) (*os.File, error) {
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	return os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
}

// Resize gives a terminal another size; the kernel signals the program on it.
func Resize(program *os.File, columns, rows int) error {
	return unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
}
