package sweep

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pgrlab/core/run"
)

// Token is a file in a sweep's folder, locked by this process. It serves to find out whether
// another machine sees the same disk and the same locks.
type Token struct {
	Name string // name of the file
	text string
	grid *Grid
	file *os.File
}

const tokenPrefix = "token-"

// Token writes and locks a token.
func (g *Grid) Token() (*Token, error) {
	if err := g.folder.Mkdir(workersName); err != nil {
		return nil, err
	}
	t := &Token{Name: tokenPrefix + rand.Text(), text: rand.Text(), grid: g}
	if err := g.folder.Replace(t.path(), []byte(t.text)); err != nil {
		return nil, err
	}
	file, err := g.folder.Append(t.path()) // NFS locks only files that are open for writing
	if err != nil {
		return nil, err
	}
	t.file = file.File
	err = flock(t.file, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil || run.HasNoLocks(err) { // without locks, leases protect the runs
		return t, nil
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", g.folder.Path(t.path()), err), t.Close())
}

// path is the file in the sweep's folder.
func (t *Token) path() string { return filepath.Join(workersName, t.Name) }

// Close removes the token.
func (t *Token) Close() error { return errors.Join(t.file.Close(), t.grid.folder.Remove(t.path())) }

// Seen is what a machine sees of a token.
type Seen struct {
	Text string `json:"text"` // empty if there is none
	// Taken says that the machine could take the lock that another process holds.
	Taken bool `json:"taken"`
}

// See reads the token of that name in the folder of a sweep. A missing token is not an error.
func See(dir, name string) (Seen, error) {
	if !strings.HasPrefix(name, tokenPrefix) || name != filepath.Base(name) {
		return Seen{}, fmt.Errorf("%q is no token", name)
	}
	dir = filepath.Join(dir, workersName)
	text, err := run.ReadFile(dir, name)
	if err != nil {
		return Seen{}, nil
	}
	file, err := run.OpenFile(dir, name)
	if err != nil {
		return Seen{}, nil
	}
	defer file.Close()
	return Seen{Text: string(text), Taken: flock(file.File, syscall.LOCK_SH|syscall.LOCK_NB) == nil}, nil
}

// Shared returns an error if s shows that another machine does not share this disk and its
// locks.
func (t *Token) Shared(s Seen) error {
	switch {
	case s.Text != t.text:
		return errors.New("it does not see the sweep's folder as it is here: choose one on a disk that both share (--out)")
	case s.Taken:
		return errors.New("it does not see the locks of files that are held here, so that two machines might write one run: mount the disk with locks that reach over machines")
	}
	return nil
}
