package run

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"pgrlab/core/run/files"
)

// formerName is the file with the SHA-256 of what config.toml held before it was
// replaced, one a line.
const formerName = "config.former"

// maxFormer bounds what is read of that file, in bytes.
const maxFormer = 1 << 20

// Reconfigure replaces config.toml by one under which all that the run has made so far
// is still its own: checkpoints that belong to the old one belong to the new one as
// well. Whenever it is interrupted, the folder holds one or the other, and all of its
// checkpoints can be used.
func (f *Folder) Reconfigure(configTOML []byte) error {
	now := digest(configTOML)
	if now == f.config {
		return nil
	}
	former := append(slices.Clone(f.former), f.config)
	if err := f.Write(formerName, []byte(strings.Join(former, "\n")+"\n")); err != nil {
		return err
	}
	if err := f.Write(ConfigName, configTOML); err != nil {
		return err
	}
	f.former, f.config = former, now
	return nil
}

// Made says whether what was made under a config.toml, given by its SHA-256, is of this
// run.
func (f *Folder) Made(config string) bool {
	return config == f.config || slices.Contains(f.former, config)
}

// readFormer reads what Reconfigure wrote; what it did not write is none.
func (f *Folder) readFormer() error {
	text, err := files.ReadFile(f.dir, formerName, maxFormer)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", formerName, reason(err))
	}
	f.former = strings.Fields(string(text))
	return nil
}
