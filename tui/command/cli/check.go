package cli

import (
	"fmt"
	"io"

	"pgrlab/core/printable"
)

// Finding is a line of a check.
type Finding struct {
	Wrong bool // a run would not be what one expects of it
	Text  string
}

// Findings writes what a check finds, line by line, and counts what is wrong.
type Findings struct {
	Out   io.Writer
	wrong int
}

// Add writes a finding, marked with ! if it is wrong.
func (f *Findings) Add(found Finding) error {
	mark := "  "
	if found.Wrong {
		mark = "! "
		f.wrong++
	}
	_, err := fmt.Fprintln(f.Out, mark+printable.Line(found.Text))
	return err
}

// Err is the error of a check that found something wrong, with the name of its command and what that is in
// the way of.
func (f *Findings) Err(command, of string) error {
	if f.wrong == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d of these lines, marked with !, are in the way of %s", command, f.wrong, of)
}
