package outside

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"path/filepath"
)

// Adapter is a Python file that speaks the protocol for environments of Gymnasium and dm_env and for plain classes.
//
//go:embed pgrlab_env.py
var Adapter []byte

// adapterHash names this version of the adapter.
func adapterHash() string {
	sum := sha256.Sum256(Adapter)
	return hex.EncodeToString(sum[:6])
}

// adapterFile writes the adapter into the user's cache, or where there is none into the folder of temporary files, and
// returns its path.
func adapterFile() (string, error) {
	folder, err := os.UserCacheDir()
	if err == nil {
		folder = filepath.Join(folder, "pgrlab", adapterHash())
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		if folder, err = os.MkdirTemp("", "pgrlab-"); err != nil {
			return "", err
		}
	}
	path := filepath.Join(folder, "pgrlab_env.py")
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, Adapter) {
		return path, nil
	}
	part, err := os.CreateTemp(folder, "part-") // another process may write the same file
	if err != nil {
		return "", err
	}
	defer os.Remove(part.Name())
	_, err = part.Write(Adapter)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	return path, err
}
