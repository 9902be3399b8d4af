package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
// goroutine.
type Folder struct {
	dir     string
	lock    io.Closer
	journal journalFile
	size    int64     // bytes of complete lines
	sum     hash.Hash // of these bytes
	config  string    // SHA-256 of config.toml
	said    []string
}

// journalFile is what a journal is written to; *os.File, or a failing disk in
// tests.
type journalFile interface {
	io.WriteCloser
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
	Sync() error
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
	f := &Folder{dir: dir, lock: lock, sum: sha256.New(), config: digest(configTOML)}
	f.note(lock)
	if err := f.begin(configTOML); err != nil {
		lock.Close()
		return nil, err
	}
	return f, nil
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
	journal, err := os.OpenFile(f.Path(JournalName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
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

// Append writes one line to the journal. Either the whole line is written or
// none of it: what a full disk cut off is taken back, so that the caller can try
// the same line again later.
func (f *Folder) Append(l Line) error {
	text, err := l.MarshalJSON() // json.Marshal would escape <, > and &
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	text = append(text, '\n')
	n, err := f.journal.Write(text)
	if err == nil {
		f.size += int64(len(text))
		f.sum.Write(text)
		return nil
	}
	if n > 0 {
		// Best effort: where even this fails, readers skip a torn last line.
		if f.journal.Truncate(f.size) == nil {
			f.journal.Seek(f.size, io.SeekStart)
		}
	}
	return fmt.Errorf("write journal %s: %w", f.Path(JournalName), reason(err))
}

// Size is the number of bytes of the journal.
func (f *Folder) Size() int64 { return f.size }

// Mark is the present end of the journal.
func (f *Folder) Mark() Mark { return Mark{Size: f.size, SHA256: hex.EncodeToString(f.sum.Sum(nil))} }

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

// Sync puts the journal on the disk. It may be called beside Append.
func (f *Folder) Sync() error {
	if err := f.journal.Sync(); err != nil {
		return fmt.Errorf("write journal %s: %w", f.Path(JournalName), reason(err))
	}
	return nil
}

// Close ends the journal and gives the lock back.
func (f *Folder) Close() error {
	err := f.journal.Close()
	if e := f.lock.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("close run folder %s: %w", f.dir, reason(err))
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
