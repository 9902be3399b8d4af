package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"

	"pgrlab/core/run/files"
)

// ErrTaken: something is where the folder of a new run should be.
var ErrTaken = errors.New("holds something already")

// building is the prefix of the names of folders in which a fork is being made. Such a
// folder lies beside its final place.
const building = ".pgrlab-fork-"

// IsUnfinished says whether a name is that of a folder in which a fork is being made, or
// was being made when its process was killed. Such a folder is not a run yet.
func IsUnfinished(name string) bool { return strings.HasPrefix(name, building) }

// Build makes the folder of a new run like Create, but beside dir under a temporary name:
// Publish renames it to dir when its initial content is complete. Close without Publish
// removes it. Build first removes folders of this kind that killed processes have left.
func Build(dir string, configTOML []byte) (*Folder, error) {
	return thisProcess().build(dir, configTOML)
}

func (k locker) build(dir string, configTOML []byte) (*Folder, error) {
	if err := vacant(dir); err != nil {
		return nil, err
	}
	above := filepath.Dir(filepath.Clean(dir))
	if err := files.MakeFolder(above); err != nil {
		return nil, fmt.Errorf("make run folder %s: %w"+elsewhere, dir, reason(err))
	}
	k.removeUnfinished(above)
	for tried := 1; ; tried++ {
		temporary := filepath.Join(above, fmt.Sprintf("%s%08x", building, rand.Uint32()))
		f, err := k.create(temporary, configTOML)
		if tried < mostTries && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errInUse)) {
			continue // another process took it for an abandoned one
		}
		if err != nil {
			k.removeUnfinished(above) // what there is of it
			return nil, &underTarget{err, temporary, dir}
		}
		f.target = dir
		return f, nil
	}
}

// mostTries is how often Build makes a folder that others remove, before it takes what keeps happening for
// a fault of the file system: a folder in which nothing can be made answers in the same way.
const mostTries = 100

// underTarget is an error of a folder under its temporary name. Its text has the final name, the only one
// that the user knows.
type underTarget struct {
	error
	temporary, target string
}

func (e *underTarget) Error() string {
	return strings.ReplaceAll(e.error.Error(), e.temporary, e.target)
}

func (e *underTarget) Unwrap() error { return e.error }

// underTarget is an error of a folder that Publish has not renamed yet.
func (f *Folder) underTarget(err error) error {
	if f.target == "" {
		return err
	}
	return &underTarget{err, f.root.Name(), f.target}
}

// vacant returns an error if dir cannot become the folder of a new run.
func vacant(dir string) error {
	entries, err := files.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("make run folder %s: %w"+elsewhere, dir, reason(err))
	case len(entries) > 0:
		return fmt.Errorf("run folder %s %w"+elsewhere, dir, ErrTaken)
	}
	return nil
}

// Publish puts the folder that Build has begun on the disk and gives it its name, in one
// atomic step.
func (f *Folder) Publish() error {
	if err := f.publish(); err != nil {
		return f.underTarget(err)
	}
	return nil
}

func (f *Folder) publish() error {
	err := f.Sync()
	for _, in := range []string{DataName, CheckpointsName, "."} {
		if err == nil {
			err = f.root.Sync(in)
		}
		if in == DataName && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = f.held()
	}
	if err == nil {
		err = f.root.Move(f.target)
	}
	switch {
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("run folder %s %w"+elsewhere, f.target, ErrTaken)
	case err != nil:
		return fmt.Errorf("make run folder %s: %w", f.target, reason(err))
	}
	f.target = ""
	return nil
}

// removeUnfinished removes the folders of unfinished forks that killed processes have left.
// Folders of forks that are still being made are locked, and stay.
func (k locker) removeUnfinished(above string) {
	entries, _ := files.ReadDir(above)
	for _, e := range entries {
		if !e.IsDir() || !IsUnfinished(e.Name()) {
			continue
		}
		if root, err := files.OpenRoot(filepath.Join(above, e.Name())); err == nil {
			k.removeAbandoned(root)
			root.Close()
		}
	}
}

// removeAbandoned removes the folder of a fork unless a process is making it.
func (k locker) removeAbandoned(root *files.Root) {
	if !k.over(root) {
		return
	}
	lock, err := k.take(root)
	if err != nil {
		return
	}
	if !root.Stands() { // it was published since it was opened: it is a run, under another name
		lock.Close()
		return
	}
	removeRun(root)
	lock.Close()
	files.RemoveFolder(root.Name())
}

// removeRun removes the files that Build, Inherit and Unpack may have made, and nothing else.
func removeRun(root *files.Root) {
	var last []string // what says that a process holds the folder
	for _, in := range []string{DataName, CheckpointsName, "."} {
		entries, _ := root.ReadDir(in)
		for _, e := range entries {
			name := filepath.Join(in, e.Name())
			switch {
			case name == lockName, strings.HasPrefix(name, leaseName):
				last = append(last, name)
			case ours(name):
				root.Remove(name) // a file that stays keeps the folder, which does no harm
			}
		}
		if in != "." {
			root.Remove(in)
		}
	}
	for _, name := range last {
		root.Remove(name)
	}
	files.RemoveFolder(root.Name())
}

// ours says whether a name below a run folder belongs to a run that is not yet complete.
func ours(name string) bool {
	in, base := filepath.Split(name)
	switch filepath.Clean(in) {
	case DataName:
		return true
	case CheckpointsName:
		return strings.Contains(base, checkpointEnd)
	}
	return isOwnName(base) || strings.Contains(base, unfinished)
}

// Inherit makes c, a checkpoint of the run in the folder parent, the first checkpoint of
// this new run. It copies the journal up to there, appends note, and takes over the data,
// which both runs share if the file system supports links.
func (f *Folder) Inherit(parent string, c *Checkpoint, note Line) error {
	if err := f.inherit(parent, c, note); err != nil {
		return f.underTarget(err)
	}
	return nil
}

func (f *Folder) inherit(parent string, c *Checkpoint, note Line) error {
	from, err := files.OpenRoot(parent)
	if err != nil {
		return fmt.Errorf("read journal of %s: %w", parent, reason(err))
	}
	defer from.Close()
	journal, err := from.Open(JournalName)
	if err != nil {
		return fmt.Errorf("read journal of %s: %w", parent, reason(err))
	}
	defer journal.Close()
	sum := sha256.New()
	out := f.journal
	if n, err := io.CopyN(io.MultiWriter(out, sum), journal, c.Journal.Size); errors.Is(err, io.EOF) {
		return fmt.Errorf("the journal of %s is cut off: it ends after %d bytes, before the place of the checkpoint", parent, n)
	} else if err != nil {
		return fmt.Errorf("copy the journal of %s: %w", parent, reason(err))
	}
	if hex.EncodeToString(sum.Sum(nil)) != c.Journal.SHA256 {
		return fmt.Errorf("the journal of %s has been changed", parent)
	}
	f.size, f.sum = c.Journal.Size, sum
	if err := f.Append(note); err != nil {
		return err
	}
	for _, name := range taskFiles(from) {
		if err := f.share(from, name); err != nil {
			return err
		}
	}
	for _, d := range c.Data {
		if err := d.Verify(parent); err != nil {
			return err
		}
		for _, p := range d.Pieces {
			if err := f.shareData(from, p.File); err != nil {
				return err
			}
		}
	}
	c.Config, c.Journal = f.config, f.Mark()
	_, _, err = f.WriteCheckpoint(c)
	return err
}

// shareData is share for a file of data.
func (f *Folder) shareData(parent *files.Root, file string) error {
	if err := f.below(DataName); err != nil {
		return fmt.Errorf("write %s: %w", f.Path(DataName), reason(err))
	}
	return f.share(parent, filepath.Join(DataName, file))
}

// share links a file that never changes, or copies it if it cannot be linked.
func (f *Folder) share(parent *files.Root, name string) error {
	err := files.Link(parent, name, f.root, name)
	if err == nil || errors.Is(err, fs.ErrExist) { // two checkpoints' data may be one file
		return nil
	}
	source, err := parent.Open(name)
	if err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Join(parent.Name(), name), reason(err))
	}
	defer source.Close()
	return f.Save(name, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}
