package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"pgrlab/core/run/files"
)

// endName is the file with the Mark of the journal as its run last closed it. The last lines of a
// run, such as the return that reports compare, lie after its last checkpoint; this is how it can
// be seen whether they were changed.
const endName = "events.end"

// seal writes the Mark of the whole journal, which is on the disk. A journal without it is only
// checked less, so an error changes nothing else.
func (f *Folder) seal() {
	if text, err := json.Marshal(f.Mark()); err == nil {
		_ = f.Write(endName, append(text, '\n'))
	}
}

// unseal removes the Mark before the journal becomes shorter than it says.
func (f *Folder) unseal() error {
	err := f.root.Remove(endName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = f.root.Sync(".")
	}
	return reason(err)
}

// Changed returns an error if the journal of a run folder is not what the run wrote: lines were
// edited or cut off. rest is how many bytes at its end could not be checked: those after the last
// time that the run closed its journal, or, if it never did, after its last readable checkpoint.
// Changed takes no lock and changes nothing, and the run may go on meanwhile.
func Changed(dir string) (rest int64, err error) {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return 0, nil // reading the journal says why
	}
	defer root.Close()
	info, err := root.Lstat(JournalName)
	if err != nil {
		return 0, nil
	}
	for {
		mark, where := lastMark(root)
		if where == "" {
			return info.Size(), nil
		}
		err := checkMark(root, mark)
		if err == nil {
			return max(info.Size()-mark.Size, 0), nil
		}
		if now, _ := lastMark(root); now == mark { // else a resume has just cut the journal
			return 0, fmt.Errorf("the journal is not what the run had written at its %s: %w", where, err)
		}
	}
}

// lastMark returns the last Mark of a journal, and of what it is; "" if there is none.
func lastMark(root *files.Root) (m Mark, where string) {
	text, err := root.ReadFile(endName, maxText)
	if err == nil && json.Unmarshal(text, &m) == nil {
		return m, "end"
	}
	found, _ := checkpoints(root) // reading the journal needs none
	for _, f := range found {
		if f.Err == nil {
			return f.Journal, fmt.Sprintf("checkpoint of step %d", f.Step)
		}
	}
	return Mark{}, ""
}
