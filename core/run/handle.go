package run

import (
	"path/filepath"

	"pgrlab/core/run/files"
)

// Handle is an open folder for files that need no lock. It stays that folder when the folder
// gets another name, and when another one gets its name.
type Handle struct{ root *files.Root }

// OpenHandle opens a folder.
func OpenHandle(dir string) (*Handle, error) {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Handle{root}, nil
}

// Handle opens the folder once more. The Handle can be used after the Folder was closed.
func (f *Folder) Handle() (*Handle, error) {
	root, err := f.root.Again()
	if err != nil {
		return nil, err
	}
	return &Handle{root}, nil
}

// Dir is the folder's path: as it was given, unless the folder has another name by now.
func (h *Handle) Dir() string { return h.root.Path() }

// Path is the path of a file in the folder.
func (h *Handle) Path(name string) string { return filepath.Join(h.Dir(), name) }

// Replace is Folder.Write.
func (h *Handle) Replace(name string, content []byte) error {
	return replaceBy(h.root, name, content)
}

// Read reads a file that is short, like ReadFile.
func (h *Handle) Read(name string) ([]byte, error) { return h.root.ReadFile(name, maxText) }

// Append opens a file for appending, and makes it if it does not exist.
func (h *Handle) Append(name string) (*files.File, error) { return h.root.OpenFile(name, appending) }

// Remove removes a file.
func (h *Handle) Remove(name string) error { return h.root.Remove(name) }

// Close closes the folder.
func (h *Handle) Close() error { return h.root.Close() }
