package cli

import (
	"io"

	"pgrlab/core/printable"
)

// A console is stdout or stderr of a command. Output may quote files, folders and other processes,
// so console lets nothing through that a terminal would execute; the program itself draws on the
// raw stream.
type console struct {
	*printable.Writer
	to io.Writer
}

// NewConsole makes w safe to write to.
func NewConsole(w io.Writer) *console { return &console{printable.NewWriter(w), w} }

// Raw is the stream behind a console, for screens and for finding out what it is.
func Raw(stream any) any {
	if c, is := stream.(*console); is {
		return c.to
	}
	return stream
}
