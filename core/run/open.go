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

	"pgrlab/core/run/files"
)

// Open takes the folder of an existing run, to continue it. It changes nothing that the
// run wrote; Rewind does.
func Open(dir string) (*Folder, error) { return thisProcess().open(dir) }

func (k locker) open(dir string) (*Folder, error) {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("resume %s: no run is there: %s: %w", dir, ConfigName, reason(err))
	}
	return k.openWith(root, k.take)
}

// openWith is open with a lock obtained by take. The open folder is the Folder's from then on.
func (k locker) openWith(root *files.Root, take func(*files.Root) (hold, error)) (f *Folder, err error) {
	defer func() {
		if err != nil {
			root.Close()
		}
	}()
	dir := root.Name()
	if _, err := root.ReadFile(ConfigName, maxText); err != nil {
		return nil, fmt.Errorf("resume %s: no run is there: %s: %w", dir, ConfigName, reason(err))
	}
	if info, err := root.Lstat(JournalName); err != nil {
		return nil, fmt.Errorf("resume %s: its journal: %w", dir, reason(err))
	} else if !info.Mode().IsRegular() { // before anything is written
		return nil, fmt.Errorf("resume %s: its journal: %w", dir, &files.Irregular{Name: JournalName, Mode: info.Mode()})
	}
	lock, err := take(root)
	if err != nil {
		return nil, goingOn(err, dir)
	}
	config, err := root.ReadFile(ConfigName, maxText) // not before: the former holder of the lock may have replaced it
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("resume %s: %s: %w", dir, ConfigName, reason(err))
	}
	if lock.took() != "" { // the former holder may still write to its open file
		if err := copyJournal(root, lock); err != nil {
			lock.Close()
			return nil, fmt.Errorf("resume %s: its journal: %w", dir, reason(err))
		}
	}
	journal, err := root.OpenFile(JournalName, os.O_RDWR)
	if err != nil {
		lock.Close()
		return nil, goingOn(fmt.Errorf("resume %s: its journal: %w", dir, reason(err)), dir)
	}
	f = newFolder(root, lock, config)
	f.by, f.journal, f.begun = k, journal, true
	if f.former, err = readFormer(root); err != nil {
		f.said = append(f.said, err.Error()+": checkpoints from before config.toml was replaced cannot be used")
	}
	f.sweep()
	return f, nil
}

// Extend takes the folder of a run that no process is running, to Append to its journal. A
// torn last line is cut off.
func Extend(dir string) (*Folder, error) {
	f, err := Open(dir)
	if err != nil {
		if held := (*inUse)(nil); errors.As(err, &held) {
			err = fmt.Errorf("%w: ask again when it has ended", held)
		}
		return nil, err
	}
	end, err := wholeLines(f.root)
	if err == nil {
		_, err = f.Rewind(end)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("extend the journal of %s: %w", dir, reason(err))
	}
	return f, nil
}

// wholeLines returns the end of the last line of the journal that is not torn.
func wholeLines(root *files.Root) (Mark, error) {
	file, err := root.Open(JournalName)
	if err != nil {
		return Mark{}, err
	}
	defer file.Close()
	sum, end := sha256.New(), int64(0)
	for r := newLineReader(file); ; {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return Mark{Size: end, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
		}
		if err != nil {
			return Mark{}, err
		}
		if bytes.HasSuffix(line, []byte("\n")) {
			sum.Write(line)
			end += int64(len(line))
		}
	}
}

// copyJournal replaces the journal by a copy, so that a process that still has the old file
// open cannot add to it.
func copyJournal(root *files.Root, by hold) error {
	file, err := root.Open(JournalName)
	if err != nil {
		return err
	}
	defer file.Close()
	return replace(root, JournalName, func(w io.Writer) error {
		_, err := io.Copy(w, file)
		return err
	}, by.held)
}

// sweep removes what a killed process had not finished writing. Beside the files of the run there may be
// others, of people and of commands that are just writing them.
func (f *Folder) sweep() {
	for _, name := range f.names(".") {
		if temporaryOf(name) != "" || strings.HasPrefix(name, leaseName+".gone-") {
			f.root.Remove(name)
		}
	}
	for _, in := range []string{CheckpointsName, DataName} {
		for _, name := range f.names(in) {
			if strings.Contains(name, unfinished) {
				f.root.Remove(filepath.Join(in, name))
			}
		}
	}
}

// CheckMark returns an error if the journal does not begin with what it held at m.
func (f *Folder) CheckMark(m Mark) error { return checkMark(f.root, m) }

// upTo hashes the journal before m.
func (f *Folder) upTo(m Mark) (hash.Hash, error) { return upTo(f.root, m) }

func checkMark(root *files.Root, m Mark) error {
	sum, err := upTo(root, m)
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		err = errors.New("the journal has been changed before that place")
	}
	return err
}

func upTo(root *files.Root, m Mark) (hash.Hash, error) {
	if m.Size < 0 {
		return nil, fmt.Errorf("%d bytes are no place in a journal", m.Size)
	}
	file, err := root.Open(JournalName)
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
	file, err := f.root.Open(JournalName)
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

// Tail calls see for every line of the journal after m, in order, and damaged for every
// line that cannot be parsed. A torn last line is left out.
func (f *Folder) Tail(m Mark, see func(Entry), damaged func(number int)) error {
	file, err := f.root.Open(JournalName)
	if err != nil {
		return fmt.Errorf("read journal: %w", reason(err))
	}
	defer file.Close()
	r := newLineReader(file)
	for at := int64(0); ; {
		line, err := r.next()
		if errors.Is(err, io.EOF) || err == nil && !bytes.HasSuffix(line, []byte("\n")) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		begin := at
		if at += int64(len(line)); begin < m.Size {
			continue
		}
		e, err := parseEntry(bytes.TrimSpace(line))
		if err != nil {
			damaged(r.number)
			continue
		}
		e.Number = r.number
		see(e)
	}
}

// Rewind makes m the end of the journal, from which Append continues. The lines after m
// are kept in events.tail-N.jsonl, whose name is returned; "" if there were none.
func (f *Folder) Rewind(m Mark) (tail string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("resume %s: %w", f.Dir(), err)
		}
	}()
	if err := f.CheckMark(m); err != nil {
		return "", err
	}
	sum, err := f.upTo(m)
	if err != nil {
		return "", err
	}
	if err := f.held(); err != nil {
		return "", err
	}
	file, ok := f.journal.(*files.File)
	if !ok {
		return "", errors.New("the journal is no file")
	}
	info, err := file.Stat()
	if err != nil {
		return "", reason(err)
	}
	if rest := info.Size() - m.Size; rest > 0 {
		tail = f.tailName()
		err := f.Save(tail, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(file, m.Size, rest))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	if err := f.unseal(); err != nil {
		return "", err
	}
	if err := file.Truncate(m.Size); err != nil {
		return "", reason(err)
	}
	if _, err := file.Seek(m.Size, io.SeekStart); err != nil {
		return "", reason(err)
	}
	f.size, f.sum, f.whole = m.Size, sum, true
	return tail, f.Sync()
}

// tailName returns the first free name for a tail.
func (f *Folder) tailName() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("events.tail-%d.jsonl", n)
		if _, err := f.root.Lstat(name); err != nil {
			return name
		}
	}
}

// EmptyMark returns the beginning of a journal.
func EmptyMark() Mark { return Mark{SHA256: digest(nil)} }
