package run

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Named is a path of the folder whose last part is the folder's own name, to which a suffix can be added,
// and before which the folder above stands: that of . and .. is absolute.
func Named(dir string) string {
	dir = filepath.Clean(dir)
	if base := filepath.Base(dir); base == "." || base == ".." {
		if absolute, err := filepath.Abs(dir); err == nil {
			return absolute
		}
	}
	return dir
}

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
