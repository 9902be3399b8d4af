package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Inherit makes c, a checkpoint of the run in the folder parent, the first one of
// this new run: with the journal up to there, a line that says so, and the data,
// which both runs share where the file system can.
func (f *Folder) Inherit(parent string, c *Checkpoint, note Line) error {
	journal, err := os.Open(filepath.Join(parent, JournalName))
	if err != nil {
		return fmt.Errorf("read journal of %s: %w", parent, reason(err))
	}
	defer journal.Close()
	sum := sha256.New()
	out := f.journal
	if _, err := io.CopyN(io.MultiWriter(out, sum), journal, c.Journal.Size); err != nil {
		return fmt.Errorf("copy the journal of %s: %w", parent, reason(err))
	}
	if hex.EncodeToString(sum.Sum(nil)) != c.Journal.SHA256 {
		return fmt.Errorf("the journal of %s has been changed", parent)
	}
	f.size, f.sum = c.Journal.Size, sum
	if err := f.Append(note); err != nil {
		return err
	}
	for _, d := range c.Data {
		if err := d.Verify(parent); err != nil {
			return err
		}
		for _, p := range d.Pieces {
			if err := f.share(parent, p.File); err != nil {
				return err
			}
		}
	}
	c.Config, c.Journal = f.config, f.Mark()
	_, _, err = f.WriteCheckpoint(c)
	return err
}

// share links a file of data, or copies it where that cannot be done.
func (f *Folder) share(parent, name string) error {
	if err := os.MkdirAll(f.Path(DataName), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", f.Path(DataName), reason(err))
	}
	from, to := filepath.Join(parent, DataName, name), f.Path(filepath.Join(DataName, name))
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, reason(err))
	}
	defer source.Close()
	return f.Save(filepath.Join(DataName, name), func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}
