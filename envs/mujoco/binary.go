package mujoco

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Version is the MuJoCo release whose WebAssembly build this package hosts.
const Version = "3.14.0"

// Checksum is the SHA-256 of mujoco.wasm in the npm package @mujoco/mujoco of that
// version. No other file is run, because host and binary depend on each other's layout.
const Checksum = "2d380f1070a556c3003b4a7c7c10c98a5f61db4e91815de1075ec478e9487e76"

// EnvFile names the environment variable with the path of mujoco.wasm, for a
// binary that was built without it.
const EnvFile = "PGRLAB_MUJOCO_WASM"

// ErrMissing says that the physics was not found, and what to do about it.
var ErrMissing = errors.New("mujoco.wasm not found: run `make build`, or set " + EnvFile +
	" to mujoco.wasm of the npm package @mujoco/mujoco " + Version)

//go:embed wasm
var embedded embed.FS

const embeddedName = "wasm/mujoco.wasm"

// Find says where the physics would be loaded from: "embedded" or a path. It
// does not read or check the file.
func Find() (source string, err error) {
	if f, err := embedded.Open(embeddedName); err == nil {
		f.Close()
		return "embedded", nil
	}
	if path := os.Getenv(EnvFile); path != "" {
		return path, nil
	}
	if dir, err := cacheDir(); err == nil {
		path := filepath.Join(dir, "mujoco-"+Version+".wasm")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}

// EmbeddedSize is the size of the embedded file in bytes, 0 if there is none.
func EmbeddedSize() int {
	info, err := fs.Stat(embedded, embeddedName)
	if err != nil {
		return 0
	}
	return int(info.Size())
}

// read returns the checked binary.
func read() (binary []byte, source string, err error) {
	source, err = Find()
	if err != nil {
		return nil, "", err
	}
	if source == "embedded" {
		binary, err = embedded.ReadFile(embeddedName)
	} else {
		binary, err = os.ReadFile(source)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the physics: %w (run `make build`, or set %s)", err, EnvFile)
	}
	return binary, source, verify(binary, source)
}

func verify(binary []byte, source string) error {
	sum := sha256.Sum256(binary)
	if hex.EncodeToString(sum[:]) != Checksum {
		return fmt.Errorf("read the physics: %s is not mujoco.wasm of @mujoco/mujoco %s (wrong SHA-256): run `make build`",
			source, Version)
	}
	return nil
}

// cacheDir is the folder of this program in the user's cache directory; it may
// not exist.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "pgrlab"), nil
}
