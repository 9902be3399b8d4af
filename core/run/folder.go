package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// The files of a run folder.
const (
	ConfigName  = "config.toml"
	JournalName = "events.jsonl"
	PolicyName  = "policy.bin"
	lockName    = "lock"

	CheckpointsName = "checkpoints" // folder of checkpoints
	DataName        = "data"        // folder of what checkpoints share
)

// unfinished is in the names of files that are being written.
const unfinished = ".new"

// Folder is the folder of a run that this process writes. It belongs to one
// goroutine, but for Sync.
type Folder struct {
	dir    string
	lock   io.Closer
	config string // SHA-256 of config.toml
	said   []string

	mu      sync.Mutex // of what follows: Sync may be called beside Append
	journal journalFile
	reopen  func() (journalFile, error)
	size    int64     // bytes of complete lines
	sum     hash.Hash // of these bytes
	fresh   []byte    // the last of them, not known to be on the disk
	doubt   error     // why the file may not hold these bytes; nil: it does
}

// Create makes the folder of a new run, with its parents, writes config.toml and
// an empty journal, and takes the lock. A folder that holds a run already is
// refused, so that no run is ever overwritten.
func Create(dir string, configTOML []byte) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make run folder %s: %w: choose another one with --out", dir, reason(err))
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	f := newFolder(dir, lock, configTOML)
	if err := f.begin(configTOML); err != nil {
		lock.Close()
		return nil, err
	}
	return f, nil
}

func newFolder(dir string, lock io.Closer, config []byte) *Folder {
	f := &Folder{dir: dir, lock: lock, config: digest(config), sum: sha256.New()}
	f.reopen = func() (journalFile, error) {
		file, err := os.OpenFile(f.Path(JournalName), os.O_RDWR, 0)
		if err != nil {
			return nil, err // not a nil pointer in an interface
		}
		return file, nil
	}
	f.note(lock)
	return f
}

// begin writes the files of a new run.
func (f *Folder) begin(configTOML []byte) error {
	for _, name := range []string{ConfigName, JournalName} {
		if _, err := os.Lstat(f.Path(name)); err == nil {
			return fmt.Errorf("run folder %s holds a run already: choose another one with --out", f.dir)
		}
	}
	if err := f.Write(ConfigName, configTOML); err != nil {
		return err
	}
	journal, err := os.OpenFile(f.Path(JournalName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("start journal %s: %w", f.Path(JournalName), reason(err))
	}
	f.journal = journal
	return nil
}

// Dir is the folder's path as it was given.
func (f *Folder) Dir() string { return f.dir }

// Path is the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Config is the SHA-256 of the run's config.toml: what its checkpoints belong to.
func (f *Folder) Config() string { return f.config }

// Said are lines for the person, about what was found when the folder was taken.
func (f *Folder) Said() []string { return f.said }

// Write replaces a file of the folder at once: readers see the old or the new
// content, never a part of it.
func (f *Folder) Write(name string, content []byte) error {
	return f.Save(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Save is Write for content that is made while it is written.
func (f *Folder) Save(name string, write func(w io.Writer) error) error {
	path := f.Path(name)
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+unfinished+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	err = write(temporary)
	for _, step := range []func() error{
		temporary.Sync,
		func() error { return temporary.Chmod(0o644) },
		temporary.Close,
	} {
		if e := step(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(temporary.Name())
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	return nil
}

// reason leaves out the operation and path of a file error, which the message
// around it has said.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
