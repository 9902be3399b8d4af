package cli

import (
	"io"

	"pgrlab/core/printable"
)

// A console is stdout or stderr of a command. What is written to it may quote files,
// folders and other processes, so nothing reaches a terminal that it would carry out;
// what the program itself draws with goes to raw.
type console struct {
	*printable.Writer
	to io.Writer
}

// NewConsole makes w safe to write to.
func NewConsole(w io.Writer) *console { return &console{printable.NewWriter(w), w} }

// Raw is the stream behind a console, for screens and for asking what it is.
func Raw(stream any) any {
	if c, is := stream.(*console); is {
		return c.to
	}
	return stream
}
