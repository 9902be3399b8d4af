package run

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pgrlab/core/run/files"
)

// nameIt says what to do where no run was found: the default, ./runs, depends on the folder of the shell.
const nameIt = "name the run folder, or go where the run was started"

// Latest returns the run folder directly below root whose journal was written last.
func Latest(root string) (string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return "", fmt.Errorf("look for runs in %s: %w: "+nameIt, root, reason(err))
	}
	best, at := "", time.Time{}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if IsUnfinished(e.Name()) {
			continue
		}
		info, err := files.Lstat(dir, JournalName)
		if err == nil && info.Mode().IsRegular() && (best == "" || info.ModTime().After(at)) {
			best, at = dir, info.ModTime()
		}
	}
	if best == "" {
		return "", fmt.Errorf("look for runs in %s: there is none: "+nameIt, root)
	}
	return best, nil
}
