package run

import (
	"path"
	"path/filepath"
	"strings"

	"pgrlab/core/run/files"
)

// ownNames are patterns of the files that a run writes in its folder.
var ownNames = []string{ConfigName, "events*.jsonl", "policy*.bin", lockName, leaseName, "attach.json"}

// Owns says whether a path is that of a file that a run writes in its folder, or lies where a run
// keeps its data and checkpoints. No command may put anything else there.
func Owns(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	dir, name := filepath.Split(path)
	if isOwnName(name) && isRun(dir) {
		return true
	}
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		switch filepath.Base(path) {
		case CheckpointsName, DataName:
			if isRun(filepath.Dir(path)) {
				return true
			}
		}
	}
	return false
}

func isOwnName(name string) bool {
	for _, pattern := range ownNames {
		if is, _ := path.Match(pattern, strings.ToLower(name)); is { // a disk may take large letters for small ones
			return true
		}
	}
	return false
}

// isRun says whether a folder is that of a run, even if parts of it are missing.
func isRun(dir string) bool {
	return files.Regular(dir, JournalName) || files.Regular(dir, ConfigName) && files.Regular(dir, lockName)
}
