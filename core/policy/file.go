package policy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// A policy's file ends with a seal: sealMark and the SHA-256 of everything before it. Readers of
// weights stop before the seal, and those that come out of a checkpoint have none.
const (
	sealMark  = "PGRLABSH"
	maxPolicy = 1 << 30 // bytes
)

// Save writes a policy with save (SavePolicy of an agent.Learner), followed by a checksum that
// Load and ReadLayers check.
func Save(w io.Writer, save func(io.Writer) error) error {
	sum := sha256.New()
	if err := save(io.MultiWriter(w, sum)); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum([]byte(sealMark)))
	return err
}

// unsealed reads what Save wrote, or weights without a seal.
func unsealed(r io.Reader) (io.Reader, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxPolicy+1))
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	if len(text) > maxPolicy {
		return nil, fmt.Errorf("read policy: it has more than %d bytes", maxPolicy)
	}
	if at := len(text) - len(sealMark) - sha256.Size; at >= 0 && bytes.HasPrefix(text[at:], []byte(sealMark)) {
		if sum := sha256.Sum256(text[:at]); !bytes.Equal(sum[:], text[at+len(sealMark):]) {
			return nil, errors.New("read policy: the file is damaged: its checksum is wrong")
		}
		text = text[:at]
	}
	return bytes.NewReader(text), nil
}
