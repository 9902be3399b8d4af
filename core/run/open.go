package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Open takes the folder of a run that was begun before, to go on with it. Nothing
// is changed before Rewind.
func Open(dir string) (*Folder, error) {
	return open(dir, func() (io.Closer, error) { return takeLock(dir) })
}

// open is Open with a lock that take takes.
func open(dir string, take func() (io.Closer, error)) (*Folder, error) {
	config, err := os.ReadFile(filepath.Join(dir, ConfigName))
	if err != nil {
		return nil, fmt.Errorf("resume %s: no run is there: %s: %w", dir, ConfigName, reason(err))
	}
	if _, err := os.Stat(filepath.Join(dir, JournalName)); err != nil {
		return nil, fmt.Errorf("resume %s: its journal: %w", dir, reason(err))
	}
	lock, err := take()
	if err != nil {
		return nil, err
	}
	journal, err := os.OpenFile(filepath.Join(dir, JournalName), os.O_RDWR, 0o644)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("resume %s: its journal: %w", dir, reason(err))
	}
	f := newFolder(dir, lock, config)
	f.journal = journal
	f.sweep()
	return f, nil
}

// Extend takes the folder of a run that nobody goes on with, for Append behind what its
// journal holds. A torn last line is cut off.
func Extend(dir string) (*Folder, error) {
	f, err := Open(dir)
	if err != nil {
		if why, inUse := strings.CutSuffix(err.Error(), elsewhere); inUse {
			return nil, errors.New(why + ": ask again when it has ended")
		}
		return nil, err
	}
	text, err := os.ReadFile(f.Path(JournalName))
	if err == nil {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
		_, err = f.Rewind(Mark{Size: int64(len(text)), SHA256: digest(text)})
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("extend the journal of %s: %w", dir, reason(err))
	}
	return f, nil
}

// sweep removes what a killed process had not finished writing.
func (f *Folder) sweep() {
	for _, in := range []string{".", CheckpointsName, DataName} {
		for _, name := range f.names(in) {
			if strings.Contains(name, unfinished) {
				os.Remove(f.Path(filepath.Join(in, name)))
			}
		}
	}
}

// CheckMark says whether the journal begins with what it held at m.
func (f *Folder) CheckMark(m Mark) error {
	sum, err := f.upTo(m)
	if err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		return errors.New("the journal has been changed before that place")
	}
	return nil
}

// upTo hashes the journal before m.
func (f *Folder) upTo(m Mark) (hash.Hash, error) {
	file, err := os.Open(f.Path(JournalName))
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", reason(err))
	}
	defer file.Close()
	sum := sha256.New()
	if n, err := io.CopyN(sum, file, m.Size); err != nil {
		return nil, fmt.Errorf("the journal ends after %d bytes, before that place", n)
	}
	return sum, nil
}

// History calls see for every line of the journal before m.
func (f *Folder) History(m Mark, see func(Entry) error) error {
	file, err := os.Open(f.Path(JournalName))
	if err != nil {
		return fmt.Errorf("read journal: %w", reason(err))
	}
	defer file.Close()
	r := NewReader(io.LimitReader(file, m.Size))
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = see(e)
		}
		if err != nil {
			return err
		}
	}
}

// Tail calls see for every line of the journal behind m, in order, and damaged for
// every line that is not one; a torn last line is none.
func (f *Folder) Tail(m Mark, see func(Entry), damaged func(number int)) error {
	text, err := os.ReadFile(f.Path(JournalName))
	if err != nil {
		return fmt.Errorf("read journal: %w", reason(err))
	}
	number := strings.Count(string(text[:m.Size]), "\n")
	for line := range strings.Lines(string(text[m.Size:])) {
		number++
		if !strings.HasSuffix(line, "\n") {
			break
		}
		e, err := parseEntry([]byte(strings.TrimSpace(line)))
		if err != nil {
			damaged(number)
			continue
		}
		e.Number = number
		see(e)
	}
	return nil
}

// Rewind makes m the end of the journal, for Append to go on there. What lies
// behind it is kept in events.tail-N.jsonl, whose name is returned; "" where there
// was nothing.
func (f *Folder) Rewind(m Mark) (tail string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("resume %s: %w", f.dir, err)
		}
	}()
	if err := f.CheckMark(m); err != nil {
		return "", err
	}
	sum, err := f.upTo(m)
	if err != nil {
		return "", err
	}
	file, ok := f.journal.(*os.File)
	if !ok {
		return "", errors.New("the journal is no file")
	}
	info, err := file.Stat()
	if err != nil {
		return "", reason(err)
	}
	if behind := info.Size() - m.Size; behind > 0 {
		tail = f.tailName()
		err := f.Save(tail, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(file, m.Size, behind))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	if err := file.Truncate(m.Size); err != nil {
		return "", reason(err)
	}
	if _, err := file.Seek(m.Size, io.SeekStart); err != nil {
		return "", reason(err)
	}
	f.size, f.sum = m.Size, sum
	return tail, f.Sync()
}

// tailName is the first name for a tail that is free.
func (f *Folder) tailName() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("events.tail-%d.jsonl", n)
		if _, err := os.Lstat(f.Path(name)); err != nil {
			return name
		}
	}
}

// EmptyMark is the beginning of a journal.
func EmptyMark() Mark { return Mark{SHA256: digest(nil)} }
