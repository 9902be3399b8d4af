package run

import (
	"path/filepath"
	"strings"

	"pgrlab/core/run/files"
)

// Names of the files that tasks of files are made from.
const taskBegin, taskEnd = "task-", ".zip"

// ownNames are the beginnings and ends of the names of files that a run writes in its folder.
var ownNames = [][2]string{{ConfigName, ""}, {"events", ".jsonl"}, {"policy", ".bin"}, {endName, ""}, {formerName, ""}, {lockName, ""}, {leaseName, ""}, {"attach.json", ""}, {taskBegin, taskEnd}}

// TaskFile is the name of the file in a run folder that holds what a task of files, file:NAME, is made
// from; "" for other tasks.
func TaskFile(task string) string {
	name, is := strings.CutPrefix(task, "file:")
	if !is || name == "" || strings.ContainsAny(name, `/\`) {
		return ""
	}
	return taskBegin + name + taskEnd
}

// taskFiles are the files in a folder that have such a name.
func taskFiles(root *files.Root) (names []string) {
	entries, _ := root.ReadDir(".") // in a folder that cannot be read there are none
	for _, e := range entries {
		if isTaskFile(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

func isTaskFile(name string) bool {
	return strings.HasPrefix(name, taskBegin) && strings.HasSuffix(name, taskEnd) && !strings.ContainsAny(name, `/\`)
}

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
	name = strings.ToLower(name) // a disk may take large letters for small ones
	for _, own := range ownNames {
		if own[1] == "" && name == own[0] || own[1] != "" && strings.HasPrefix(name, own[0]) && strings.HasSuffix(name, own[1]) {
			return true
		}
	}
	return false
}

// isRun says whether a folder is that of a run, even if parts of it are missing.
func isRun(dir string) bool {
	return files.Regular(dir, JournalName) || files.Regular(dir, ConfigName) && files.Regular(dir, lockName)
}
