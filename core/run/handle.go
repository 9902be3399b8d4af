package run

import (
	"errors"
	"io/fs"
	"path/filepath"

	"pgrlab/core/run/files"
)

// Handle is an open folder for files that need no lock. It stays that folder when the folder
// gets another name, and when another one gets its name. The names of its files may lead
// through folders below it, never through links.
type Handle struct{ root *files.Root }

// OpenHandle opens a folder.
func OpenHandle(dir string) (*Handle, error) { return asHandle(files.OpenRoot(dir)) }

// MakeHandle makes a folder with its parents if there is none, and opens it.
func MakeHandle(dir string) (*Handle, error) {
	if err := files.MakeFolder(dir); err != nil {
		return nil, err
	}
	return OpenHandle(dir)
}

// Handle opens the folder once more. The Handle can be used after the Folder was closed.
func (f *Folder) Handle() (*Handle, error) { return asHandle(f.root.Again()) }

// Sub opens a folder below this one.
func (h *Handle) Sub(name string) (*Handle, error) { return asHandle(h.root.Sub(name)) }

func asHandle(root *files.Root, err error) (*Handle, error) {
	if err != nil {
		return nil, err
	}
	return &Handle{root}, nil
}

// Dir is the folder's path: as it was given, unless the folder has another name by now.
func (h *Handle) Dir() string { return h.root.Path() }

// Path is the path of a file in the folder.
func (h *Handle) Path(name string) string { return filepath.Join(h.Dir(), name) }

// Name is the folder's path as it was given.
func (h *Handle) Name() string { return h.root.Name() }

// Moved says whether something else, or nothing, has the folder's name by now.
func (h *Handle) Moved() bool { return h.root.Moved() }

// Replace is Folder.Write.
func (h *Handle) Replace(name string, content []byte) error {
	return replaceBy(h.root, name, content)
}

// Read reads a file that is short, like ReadFile.
func (h *Handle) Read(name string) ([]byte, error) { return h.root.ReadFile(name, maxText) }

// ReadOwn reads a file that leads to commands, signals or connections. Of a file that belongs to
// another user it returns the content, which may be shown, with a Foreign error.
func (h *Handle) ReadOwn(name string) ([]byte, error) { return readOwn(h.root, name) }

// Open opens a file for reading.
func (h *Handle) Open(name string) (*files.File, error) { return h.root.Open(name) }

// Append opens a file for appending, and makes it if it does not exist.
func (h *Handle) Append(name string) (*files.File, error) { return h.root.OpenFile(name, appending) }

// Lstat describes the entry of that name; links are not followed.
func (h *Handle) Lstat(name string) (fs.FileInfo, error) { return h.root.Lstat(name) }

// ReadDir lists a folder, sorted by name.
func (h *Handle) ReadDir(name string) ([]fs.DirEntry, error) { return h.root.ReadDir(name) }

// Mkdir makes a folder if there is none.
func (h *Handle) Mkdir(name string) error { return h.root.Mkdir(name) }

// MkdirNew makes a folder. If the name is taken, the error is fs.ErrExist.
func (h *Handle) MkdirNew(name string) error { return h.root.MkdirNew(name) }

// Remove removes a file or an empty folder.
func (h *Handle) Remove(name string) error { return h.root.Remove(name) }

// RemoveFolder removes a folder with the files in it.
func (h *Handle) RemoveFolder(name string) error {
	entries, err := h.ReadDir(name)
	for _, e := range entries {
		err = errors.Join(err, h.Remove(filepath.Join(name, e.Name())))
	}
	return errors.Join(err, h.Remove(name))
}

// Tidy removes the temporary files that Replace left in a folder in killed processes. No other
// process may write there meanwhile.
func (h *Handle) Tidy(name string) {
	entries, _ := h.ReadDir(name) // a folder that cannot be read stays as it is
	for _, e := range entries {
		if temporaryOf(e.Name()) != "" && e.Type().IsRegular() {
			h.Remove(filepath.Join(name, e.Name()))
		}
	}
}

// Close closes the folder.
func (h *Handle) Close() error { return h.root.Close() }
