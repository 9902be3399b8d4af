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
	path string
	file *os.File
}

const tokenPrefix = "token-"

// Token writes and locks a token.
func (g *Grid) Token() (*Token, error) {
	dir := filepath.Join(g.dir, workersName)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	t := &Token{Name: tokenPrefix + rand.Text(), text: rand.Text()}
	t.path = filepath.Join(dir, t.Name)
	if err := run.ReplaceFile(dir, t.Name, []byte(t.text)); err != nil {
		return nil, err
	}
	file, err := run.AppendFile(dir, t.Name) // NFS locks only files that are open for writing
	if err != nil {
		return nil, err
	}
	t.file = file.File
	err = syscall.Flock(int(t.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil, errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return t, nil // without locks, leases protect the runs
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", t.path, err), t.Close())
}

// Close removes the token.
func (t *Token) Close() error { return errors.Join(t.file.Close(), os.Remove(t.path)) }

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
	return Seen{Text: string(text), Taken: syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil}, nil
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
