package taskfile

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// The limits of what a task is made from.
const (
	maxDocument = 1 << 20
	maxFiles    = 256 << 20
)

// bundle is the files that a task is made from, by their paths below its folder, with slashes.
type bundle struct {
	document string // the name of the task file
	packed   bool   // they come from an archive
	files    map[string][]byte
	size     int
	root     *os.Root // where further files come from; nil: there are none
}

// openBundle reads a task file. Its folder is closed by seal.
func openBundle(file string) (*bundle, error) {
	real, err := filepath.EvalSymlinks(file) // the file that was named decides which folder it is
	if err != nil {
		return nil, plainly(err)
	}
	root, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, plainly(err)
	}
	b := &bundle{document: filepath.Base(real), files: map[string][]byte{}, root: root}
	if _, err := b.take(b.document, maxDocument); err != nil {
		root.Close()
		return nil, err
	}
	return b, nil
}

// seal ends the reading.
func (b *bundle) seal() {
	if b.root != nil {
		b.root.Close()
		b.root = nil
	}
}

// read is a mujoco.Reader.
func (b *bundle) read(name string) ([]byte, error) { return b.take(name, maxFiles) }

// take reads a file, once.
func (b *bundle) take(name string, limit int) ([]byte, error) {
	if content, known := b.files[name]; known {
		return content, nil
	}
	if b.root == nil {
		return nil, fs.ErrNotExist
	}
	content, err := b.readFile(name, min(limit, maxFiles-b.size))
	if err != nil {
		return nil, err
	}
	b.files[name], b.size = content, b.size+len(content)
	return content, nil
}

// readFile reads a regular file of at most so many bytes.
func (b *bundle) readFile(name string, limit int) ([]byte, error) {
	f, err := b.root.OpenFile(name, reading, 0)
	if err != nil {
		return nil, plainly(err)
	}
	return regular(f, limit)
}

// readWhole reads a file that a person named.
func readWhole(file string, limit int) ([]byte, error) {
	f, err := os.OpenFile(file, reading, 0)
	if err != nil {
		return nil, plainly(err)
	}
	return regular(f, limit)
}

// reading opens a file; opening a pipe does not wait.
const reading = os.O_RDONLY | syscall.O_NONBLOCK

// regular reads a regular file of at most so many bytes, and closes it.
func regular(f *os.File, limit int) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, plainly(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > int64(limit) {
		return nil, errLarge
	}
	return limited(f, limit)
}

var errLarge = fmt.Errorf("it is too large: a task has at most %d MiB, its task file %d MiB", maxFiles>>20, maxDocument>>20)

// limited reads at most so many bytes; more are an error.
func limited(r io.Reader, limit int) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, plainly(err)
	case len(content) > limit:
		return nil, errLarge
	}
	return content, nil
}

// plainly leaves out the operation and the path, which the caller has.
func plainly(err error) error {
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// names are the names of the files, sorted.
func (b *bundle) names() []string { return slices.Sorted(maps.Keys(b.files)) }

// hash is of the names and contents of all files.
func (b *bundle) hash() [32]byte {
	h := sha256.New()
	for _, name := range b.names() {
		shown := name
		if name == b.document {
			shown = "" // the name of the document does not matter: a copy has another
		}
		for _, part := range [][]byte{[]byte(shown), b.files[name]} {
			binary.Write(h, binary.LittleEndian, uint64(len(part))) // a hash does not fail
			h.Write(part)
		}
	}
	return [32]byte(h.Sum(nil))
}

// archive is all files in one; its comment is the name of the task file.
func (b *bundle) archive() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range b.names() {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(b.files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := errors.Join(z.SetComment(b.document), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// openArchive reads what archive returned.
func openArchive(file string) (*bundle, error) {
	content, err := readWhole(file, maxFiles)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, errors.New("it is no archive of a task")
	}
	b := &bundle{document: z.Comment, packed: true, files: map[string][]byte{}}
	for _, f := range z.File {
		if !fs.ValidPath(f.Name) || b.files[f.Name] != nil {
			return nil, fmt.Errorf("it is no archive of a task: it has a file %q", f.Name)
		}
		if f.UncompressedSize64 > uint64(maxFiles-b.size) {
			return nil, errLarge
		}
		r, err := f.Open() // which gives no more than that
		if err != nil {
			return nil, err
		}
		text, err := limited(r, maxFiles-b.size)
		r.Close()
		if err != nil {
			return nil, err
		}
		b.files[f.Name], b.size = text, b.size+len(text)
	}
	if b.files[b.document] == nil {
		return nil, errors.New("it is no archive of a task: its comment is not the name of a task file in it")
	}
	return b, nil
}

// base is the name of a task file without its ending.
func (b *bundle) base() string {
	name := path.Base(b.document)
	return name[:len(name)-len(path.Ext(name))]
}
