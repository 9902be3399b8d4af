package run

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"pgrlab/core/run/files"
)

// formerName is the file with the SHA-256 of each former content of config.toml, one a
// line.
const formerName = "config.former"

// maxFormer limits the bytes that are read of that file.
const maxFormer = 1 << 20

// Reconfigure replaces config.toml by one under which everything that the run has made so
// far stays valid: checkpoints that belong to the old one belong to the new one as well.
// Whenever it is interrupted, the folder holds one or the other, and all of its
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

// Made says whether a config.toml, given by its SHA-256, is or was that of this run, so that
// what was made under it belongs to the run.
func (f *Folder) Made(config string) bool {
	return config == f.config || slices.Contains(f.former, config)
}

// ErrOtherConfig says that a checkpoint was taken under a config.toml that its folder never had.
var ErrOtherConfig = errors.New("it belongs to another run, or config.toml was changed")

// CheckConfig returns ErrOtherConfig if a config.toml, given by its SHA-256, neither is nor was that of
// the run in dir. It is Made for a folder that is only read.
func CheckConfig(dir, config string) error {
	root, err := files.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", ConfigName, reason(err))
	}
	defer root.Close()
	doc, err := root.ReadFile(ConfigName, maxText)
	if err != nil {
		return fmt.Errorf("%s: %w", ConfigName, reason(err))
	}
	if digest(doc) == config {
		return nil
	}
	former, err := readFormer(root)
	if err == nil && !slices.Contains(former, config) {
		err = ErrOtherConfig
	}
	return err
}

// readFormer reads the file that Reconfigure wrote, if there is one.
func readFormer(root *files.Root) ([]string, error) {
	text, err := root.ReadFile(formerName, maxFormer)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", formerName, reason(err))
	}
	return strings.Fields(string(text)), nil
}
