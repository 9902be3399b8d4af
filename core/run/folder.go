package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"pgrlab/core/run/files"
)

// The files of a run folder.
const (
	ConfigName  = "config.toml"
	JournalName = "events.jsonl"
	PolicyName  = "policy.bin"
	lockName    = "lock"

	CheckpointsName = "checkpoints" // folder of checkpoints
	DataName        = "data"        // folder of the data that checkpoints share
)

// unfinished is part of the names of files that are being written.
const unfinished = ".new"

// Folder is the folder of a run that this process writes. It stays that folder if its name
// changes meanwhile: everything is written through the open folder, never by its path. Except
// for Sync, its methods belong to one goroutine.
type Folder struct {
	root   *files.Root
	lock   hold
	by     locker   // the locker that has taken it
	target string   // name that Publish will give it; "" if it has its name
	config string   // SHA-256 of config.toml
	former []string // SHA-256 of each config.toml before Reconfigure
	said   []string
	begun  bool        // the journal was begun
	gone   atomic.Bool // it was removed since

	syncing sync.Mutex // one Sync at a time: of two at once, the one that succeeds would hide the error of the other

	mu      sync.Mutex // guards the fields below: Sync may be called concurrently with Append
	journal journalFile
	reopen  func() (journalFile, error)
	whole   bool      // the two fields below are known: the folder is new, or its journal was rewound
	size    int64     // bytes of complete lines
	sum     hash.Hash // of these bytes
	fresh   []byte    // the last of them, not known to be on the disk
	doubt   error     // why the file may not hold these bytes; nil if it does
}

// ErrHolds: a run cannot begin in a folder that has the files of another one.
var ErrHolds = errors.New("holds a run already")

// Taken says why no new run can begin in a folder: it holds a run already, which is ErrHolds, or a policy,
// which the run would replace at its end. It is nil if one can.
func Taken(dir string) error {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil // what is wrong with it shows when the run begins
	}
	defer root.Close()
	return taken(root)
}

func taken(root *files.Root) error {
	for _, name := range []string{ConfigName, JournalName} {
		if _, err := root.Lstat(name); err == nil {
			return fmt.Errorf("run folder %s %w"+elsewhere, root.Name(), ErrHolds)
		}
	}
	if _, err := root.Lstat(PolicyName); err == nil {
		return fmt.Errorf("run folder %s has a %s, which the run would replace"+elsewhere, root.Name(), PolicyName)
	}
	return nil
}

// Create makes the folder of a new run, with its parents, writes config.toml and
// an empty journal, and takes the lock. A folder that holds a run already is
// refused, so that no run is ever overwritten.
func Create(dir string, configTOML []byte) (*Folder, error) {
	return thisProcess().create(dir, configTOML)
}

func (k locker) create(dir string, configTOML []byte) (*Folder, error) {
	if err := files.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("make run folder %s: %w"+elsewhere, dir, reason(err))
	}
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("make run folder %s: %w"+elsewhere, dir, reason(err))
	}
	lock, err := k.take(root)
	if err != nil {
		root.Close()
		return nil, beginning(err)
	}
	f := newFolder(root, lock, configTOML)
	f.by = k
	if err := f.begin(configTOML); err != nil {
		lock.Close()
		root.Close()
		return nil, err
	}
	return f, nil
}

func newFolder(root *files.Root, lock hold, config []byte) *Folder {
	f := &Folder{root: root, lock: lock, config: digest(config), sum: sha256.New()}
	f.reopen = func() (journalFile, error) {
		file, err := f.root.OpenFile(JournalName, os.O_RDWR)
		if err != nil {
			return nil, err // not a nil pointer in an interface
		}
		return file, nil
	}
	if said := lock.took(); said != "" {
		f.said = append(f.said, said)
	}
	return f
}

// begin writes the files of a new run.
func (f *Folder) begin(configTOML []byte) error {
	if err := taken(f.root); err != nil {
		return err
	}
	if err := f.Write(ConfigName, configTOML); err != nil {
		return err
	}
	journal, err := f.root.OpenFile(JournalName, os.O_CREATE|os.O_EXCL|os.O_RDWR)
	if err == nil {
		f.journal, f.begun, f.whole = journal, true, true
		err = f.root.Sync(".")
	}
	if err != nil {
		return fmt.Errorf("start journal %s: %w", f.Path(JournalName), reason(err))
	}
	return nil
}

// RemoveUnbegun removes the configuration of a run that was killed before it began its
// journal, so that a run can begin in the folder. The error is one of IsInUse if another
// process holds the folder: it may be about to begin the journal.
func RemoveUnbegun(dir string) error { return thisProcess().removeUnbegun(dir) }

func (k locker) removeUnbegun(dir string) error {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil // there is no configuration either
	}
	defer root.Close()
	unbegun := func() bool {
		_, config := root.Lstat(ConfigName)
		_, journal := root.Lstat(JournalName)
		return config == nil && errors.Is(journal, fs.ErrNotExist)
	}
	if !unbegun() {
		return nil
	}
	lock, err := k.take(root)
	if err != nil {
		return err
	}
	defer lock.Close()
	if !unbegun() { // the former holder of the lock has begun it, or removed it
		return nil
	}
	if err := root.Remove(ConfigName); err != nil {
		return fmt.Errorf("remove %s: %w", filepath.Join(dir, ConfigName), reason(err))
	}
	return nil
}

// held returns an error if this process no longer holds the folder. It is called before
// every change.
func (f *Folder) held() error {
	if f.gone.Load() {
		return ErrGone
	}
	return f.lock.held()
}

// there is held for changes that are rare enough to look first whether the folder still has
// its journal. Without, the folder was removed, or is just being removed.
func (f *Folder) there() error {
	if _, err := f.root.Lstat(JournalName); f.begun && errors.Is(err, fs.ErrNotExist) {
		f.gone.Store(true) // before the lock says that its lease was taken away
	}
	return f.held()
}

// Dir is the folder's path: as it was given, unless the folder has another name by now.
func (f *Folder) Dir() string { return f.root.Path() }

// Path is the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir(), name) }

// Config is the SHA-256 of the run's config.toml, to which its checkpoints belong.
func (f *Folder) Config() string { return f.config }

// Said returns lines for the user about what was found when the folder was taken.
func (f *Folder) Said() []string { return f.said }

// Write replaces a file of the folder atomically: readers see the old or the new content,
// never a part of it.
func (f *Folder) Write(name string, content []byte) error {
	return f.Save(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Save is Write for content that is produced while it is written. When it returns, the
// content is on the disk under its name.
func (f *Folder) Save(name string, write func(w io.Writer) error) error {
	if err := f.there(); err != nil {
		return fmt.Errorf("write %s: %w", f.Path(name), err)
	}
	return replace(f.root, name, write, f.there)
}

// Log opens a file of the folder for the output of a process.
func (f *Folder) Log(name string) (*files.File, error) { return f.root.OpenFile(name, appending) }

// Discard removes what Create has made, and closes the folder: the run did not begin. A folder
// that holds anything else stays. If the process is killed meanwhile, RemoveUnbegun removes the rest.
func (f *Folder) Discard() {
	for _, name := range append(taskFiles(f.root), JournalName, ConfigName, lockName) {
		f.root.Remove(name) // what stays keeps the folder, which does no harm
	}
	f.Close()
	files.RemoveFolder(f.Dir())
}

// ReplaceFile is Folder.Write for a file of a folder that no process holds.
func ReplaceFile(dir, name string, content []byte) error {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), reason(err))
	}
	defer root.Close()
	return replaceBy(root, name, content)
}

func replaceBy(root *files.Root, name string, content []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	return replace(root, name, write, func() error { return nil })
}

// temporaryOf returns the name of the file that replace would make of a temporary one; "" if replace
// gives its files no such name.
func temporaryOf(temporary string) string {
	i := strings.LastIndex(temporary, unfinished+"-")
	if i < 0 {
		return ""
	}
	number := temporary[i+len(unfinished)+1:]
	if _, err := strconv.ParseUint(number, 16, 32); err != nil || len(number) != 8 {
		return ""
	}
	return temporary[:i]
}

// TidyFile removes the temporary files that ReplaceFile of that name left in killed processes. No
// other process may replace the file meanwhile.
func TidyFile(dir, name string) {
	entries, _ := files.ReadDir(dir) // a folder that cannot be read stays as it is
	for _, e := range entries {
		if temporaryOf(e.Name()) == name && e.Type().IsRegular() {
			files.Remove(dir, e.Name())
		}
	}
}

// replace writes a temporary file beside the one of that name and renames it, if may
// returns nil.
func replace(root *files.Root, name string, write func(w io.Writer) error, may func() error) error {
	file, temporary, err := createBeside(root, name)
	if err == nil {
		if err = write(file); err == nil {
			err = file.Sync()
		}
		if e := file.Close(); err == nil {
			err = e
		}
		if err == nil {
			err = may()
		}
		if err == nil {
			err = root.Rename(temporary, name)
		}
		if err != nil {
			root.Remove(temporary)
		}
	}
	if err == nil {
		err = root.Sync(filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(root.Path(), name), reason(err))
	}
	return nil
}

// createBeside makes a file beside name that can be recognised as unfinished.
func createBeside(root *files.Root, name string) (file *files.File, temporary string, err error) {
	for {
		temporary = fmt.Sprintf("%s%s-%08x", name, unfinished, rand.Uint32())
		file, err = root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		if !errors.Is(err, fs.ErrExist) {
			return file, temporary, err
		}
	}
}

// OpenFile opens a file of a run folder for reading. Anything but a regular file, such as
// a link or a named pipe, is an error.
func OpenFile(dir, name string) (*files.File, error) { return files.Open(dir, name) }

// AppendFile opens a file of a run folder for appending, and makes it if it does not exist.
func AppendFile(dir, name string) (*files.File, error) {
	return files.OpenFile(dir, name, appending)
}

const appending = os.O_CREATE | os.O_RDWR | os.O_APPEND // what a screen appends it also reads

// ReadFile reads a file of a run folder that is short: not a journal and not a checkpoint.
func ReadFile(dir, name string) ([]byte, error) { return files.ReadFile(dir, name, maxText) }

// OpenNamed opens for reading what a person names: an ordinary file, also by a link, or a pipe that the
// shell has opened for this process. Devices, folders and other pipes are refused.
func OpenNamed(path string) (*os.File, error) { return files.OpenNamed(path) }

// ReadNamed reads such a file if it has at most limit bytes.
func ReadNamed(path string, limit int64) ([]byte, error) { return files.ReadNamed(path, limit) }

// maxText is the largest size of a file that is read at once, in bytes.
const maxText = 16 << 20

// Holds says whether a folder holds a run: a configuration and a journal.
func Holds(dir string) bool { return files.Regular(dir, ConfigName) && files.Regular(dir, JournalName) }

// reason strips the operation and path from a file error, because the message around it
// names them.
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
