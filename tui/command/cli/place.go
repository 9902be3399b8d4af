package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/core/run"
)

func ownedByRun(path string) error {
	return Usagef("write %s: that belongs to a run, which could not be read or resumed without it: choose another name", path)
}

// Ending returns an error if the name of a file has an ending, and not that of its format: a program that
// reads it would take it for something else. Devices and pipes have any name.
func Ending(flag, path, ending, format string) error {
	has := filepath.Ext(path)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() || has == "" || strings.EqualFold(has, ending) {
		return nil // of a folder, writing says so
	}
	return Usagef("--%s %s: %s: want a name that ends in %s", flag, path, format, ending)
}

// fileEndings are endings of names that no one takes for folders.
var fileEndings = strings.Fields(".cast .gif .png .apng .jpg .jpeg .webp .svg .pdf .mp4 .webm .mkv .avi .mov .csv .tsv .json .jsonl .md .html .tex .txt .toml .npz .npy .safetensors .onnx .pt .pth .bin .zip .tar .gz .zst")

// Folder returns an error if a command cannot mean dir as the folder for what it writes: names of files,
// and the folders of a run's data and checkpoints, are refused. It makes nothing.
func Folder(dir, holds string) error {
	info, err := os.Stat(dir)
	ending := strings.ToLower(filepath.Ext(dir))
	switch {
	case run.Owns(filepath.Join(dir, "x")):
		return ownedByRun(dir)
	case err == nil && !info.IsDir():
		return Usagef("write %s: that is a file: %s go into a folder", dir, holds)
	case err != nil && slices.Contains(fileEndings, ending):
		return Usagef("write %s: %s go into a folder: want a name without %s", dir, holds, ending)
	}
	return nil
}

// MakeFolder makes such a folder, with those above it.
func MakeFolder(dir, holds string) error {
	if err := Folder(dir, holds); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			err = p.Err
		}
		return fmt.Errorf("make folder %s: %w", dir, err)
	}
	return nil
}
