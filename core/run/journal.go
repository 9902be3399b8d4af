package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"pgrlab/core/run/files"
)

// journalFile is the file that a journal is written to: *files.File, or a failing disk
// in tests.
type journalFile interface {
	io.Reader
	io.WriteCloser
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
	Sync() error
}

// Append writes one line to the journal. Either the whole line is written or none of it:
// a line that a full disk cut off is taken back, so that the caller can try it again
// later. After any other error, the next Append or Sync opens the file again and makes it
// hold exactly what was written before anything follows.
func (f *Folder) Append(l Line) error {
	text, err := l.MarshalJSON() // json.Marshal would escape <, > and &
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	text = append(text, '\n')
	if len(text) > maxLine {
		return fmt.Errorf("write journal: a line %s of %d bytes: there may be %d", l.Type, len(text), maxLine)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.held(); err != nil {
		return f.refused(err)
	}
	if err := f.mend(); err != nil {
		return f.refused(err)
	}
	n, err := f.journal.Write(text)
	if err == nil {
		f.size += int64(len(text))
		f.sum.Write(text)
		f.fresh = append(f.fresh, text...)
		return nil
	}
	if !IsFull(err) || n > 0 && f.takeBack() != nil {
		f.doubt = err
	}
	return f.refused(err)
}

// takeBack truncates the file to the end of the last whole line.
func (f *Folder) takeBack() error {
	if err := f.journal.Truncate(f.size); err != nil {
		return err
	}
	_, err := f.journal.Seek(f.size, io.SeekStart)
	return err
}

// Sync puts the journal on the disk. It may be called concurrently with Append and other
// Syncs; other Syncs wait for it, and Append only if the file has to be mended.
func (f *Folder) Sync() error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.mu.Lock()
	err := f.there()
	if err == nil {
		f.compare()
		err = f.mend()
	}
	journal, end := f.journal, f.size
	f.mu.Unlock()
	if err != nil {
		return f.refused(err)
	}
	err = journal.Sync() // may take long, but nothing waits for it
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.journal != journal {
		return nil // mended meanwhile, which also put it on the disk
	}
	if err != nil {
		// The kernel reports the error once and may have dropped what it could not write: a
		// later Sync that succeeds proves nothing (Rebello et al., USENIX ATC 2020).
		f.doubt = err
		return f.refused(err)
	}
	if n := end - (f.size - int64(len(f.fresh))); n > 0 {
		f.fresh = append(f.fresh[:0], f.fresh[n:]...)
	}
	return nil
}

// compare casts doubt on an open journal that is no longer the file of that name: another
// program has put a new file into its place.
func (f *Folder) compare() {
	file, real := f.journal.(*files.File)
	if !real || f.doubt != nil {
		return
	}
	now, err := f.root.Lstat(JournalName)
	if is, e := file.Stat(); errors.Join(err, e) == nil && !os.SameFile(is, now) {
		f.doubt = errors.New("another program has replaced it")
	}
}

// mend makes a file that is in doubt hold what was written: it opens the file again, compares
// the part that had been on the disk with its checksum, and writes the rest again.
func (f *Folder) mend() error {
	if f.doubt == nil {
		return nil
	}
	file, err := f.reopen()
	if err != nil {
		return err
	}
	if err := f.rewrite(file); err != nil {
		file.Close()
		return err
	}
	f.journal.Close() // the file is in doubt: its error does not matter
	f.journal, f.doubt, f.fresh = file, nil, f.fresh[:0]
	return nil
}

func (f *Folder) rewrite(file journalFile) error {
	settled := f.size - int64(len(f.fresh))
	sum := sha256.New()
	if n, err := io.CopyN(sum, file, settled); errors.Is(err, io.EOF) {
		return fmt.Errorf("%d bytes of it are left of %d: another program has cut it", n, f.size)
	} else if err != nil {
		return err
	}
	sum.Write(f.fresh)
	if hex.EncodeToString(sum.Sum(nil)) != hex.EncodeToString(f.sum.Sum(nil)) {
		return errors.New("it is not what was written: another program has changed it")
	}
	if err := file.Truncate(settled); err != nil {
		return err
	}
	if _, err := file.Seek(settled, io.SeekStart); err != nil {
		return err
	}
	if _, err := file.Write(f.fresh); err != nil {
		return err
	}
	return file.Sync()
}

// refused returns an error of the journal, in one line.
func (f *Folder) refused(err error) error {
	return fmt.Errorf("write journal %s: %w", f.Path(JournalName), reason(err))
}

// Size is the number of bytes of the journal.
func (f *Folder) Size() int64 { return f.size }

// Mark returns the present end of the journal.
func (f *Folder) Mark() Mark { return Mark{Size: f.size, SHA256: hex.EncodeToString(f.sum.Sum(nil))} }

// Close ends the journal and gives the lock back.
func (f *Folder) Close() error {
	err := f.Sync()
	if err == nil && f.whole && f.target == "" {
		f.seal()
	}
	f.mu.Lock()
	if e := f.journal.Close(); err == nil {
		err = e
	}
	f.mu.Unlock()
	defer f.root.Close()
	if f.target != "" {
		removeRun(f.root)
	}
	if e := f.lock.Close(); err == nil {
		err = e
	}
	if f.target != "" {
		files.RemoveFolder(f.root.Name()) // where the lock was a lease
		return nil
	}
	if err != nil {
		return fmt.Errorf("close run folder %s: %w", f.Dir(), reason(err))
	}
	return nil
}
