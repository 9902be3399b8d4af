package outside

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Allowed are the commands that a person has typed. Nothing else is started.
type Allowed struct {
	path string // of the list; "": there is none, and what is typed counts for this process alone

	mu    sync.Mutex
	typed map[string]bool
}

// allowedName is the list's file.
const allowedName = "allowed.jsonl"

// NewAllowed is the list in a folder of the user.
func NewAllowed(folder string) *Allowed {
	a := &Allowed{typed: map[string]bool{}}
	if folder != "" {
		a.path = filepath.Join(folder, allowedName)
	}
	return a
}

// entry is a line of the list. Only the fingerprint counts; the rest is for people who read it.
type entry struct {
	Fingerprint string   `json:"fingerprint"`
	Argv        []string `json:"argv"`
	Dir         string   `json:"dir"`
	Args        []string `json:"args,omitempty"`
}

// largestScript is more bytes than a script has; other files count with their names alone.
const largestScript = 16 << 20

// fingerprint names a command with its working folder, its arguments and the contents of the files that it names: the
// script has to be the one that was allowed.
func (c Command) fingerprint() (string, error) {
	about := struct {
		Argv, Args []string
		Dir        string
		Files      map[string]string
	}{c.Argv, c.Args, c.Dir, map[string]string{}}
	for i, word := range c.Argv {
		if i == 0 && filepath.Base(word) == word {
			continue // found in the search path: updates of the system change it
		}
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > largestScript {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, file)
		file.Close()
		if err != nil {
			return "", err
		}
		about.Files[word] = hex.EncodeToString(sum.Sum(nil))
	}
	text, err := json.Marshal(about)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Has says whether a command was allowed, with its files as they are now.
func (a *Allowed) Has(c Command) (bool, error) {
	print, err := c.fingerprint()
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.typed[print] {
		return true, nil
	}
	return a.listed(print)
}

// listed says whether the list has a fingerprint.
func (a *Allowed) listed(print string) (bool, error) {
	if a.path == "" {
		return false, nil
	}
	list, err := os.ReadFile(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the list of allowed commands: %w", err)
	}
	for line := range bytes.Lines(list) {
		var e entry
		if json.Unmarshal(line, &e) == nil && e.Fingerprint == print {
			return true, nil
		}
	}
	return false, nil
}

// Add allows a command that a person has typed. If the list cannot be written, the command is allowed in this process all
// the same.
func (a *Allowed) Add(c Command) error {
	print, err := c.fingerprint()
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.typed[print] = true
	if there, err := a.listed(print); there || err != nil || a.path == "" {
		return err
	}
	line, err := json.Marshal(entry{print, c.Argv, c.Dir, c.Args})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.path), 0o700)
	}
	if err == nil {
		err = appendTo(a.path, append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the list of allowed commands: %w", err)
	}
	return nil
}

func appendTo(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}
