package sshd

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"pgrlab/core/run"
	"pgrlab/core/shell"
)

// maxKey is more bytes than a private key takes.
const maxKey = 64 << 10

// HostKey is the key by which clients recognise this server: the key in a file, which is made if it
// does not exist.
func HostKey(path string) (ssh.Signer, error) {
	text, err := run.ReadNamed(path, maxKey)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeHostKey(path); err != nil {
			return nil, fmt.Errorf("make a host key: %w", err)
		}
		text, err = run.ReadNamed(path, maxKey)
	}
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("host key %s: others may read it: chmod 600 %s", path, shell.Word(path))
	}
	key, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("host key %s: %w: remove it for a new one (clients will be warned)", path, err)
	}
	return key, nil
}

// makeHostKey makes the file as a whole or not at all; a file that another process has made
// meanwhile stays.
func makeHostKey(path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "pgrlab")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".hostkey")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(pem.EncodeToMemory(block))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
