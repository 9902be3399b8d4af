package run

import (
	"fmt"
	"strings"
)

// FolderName writes the name of a task or a method so that it can be part of a folder's name on every
// disk: letters, digits and -_.=+ stay, and each byte of anything else becomes %XX, so that different
// names stay different.
func FolderName(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.=+", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
