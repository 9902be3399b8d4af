package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// blocks moves the parts of packed runs between their plain form and a zstd stream. In the stream the rows
// of each block are transposed: byte 0 of all rows, byte 1 of all rows, and so on. The sign and exponent
// of numbers, which repeat themselves, then lie together, and so do a number of s and the same number of
// s', which is that of s one row later.
type blocks struct {
	from, to    []byte
	done, total int64
	progress    func(done, total int64)
	seen        map[Piece]bool
}

func newBlocks(all []Packed, progress func(done, total int64)) *blocks {
	b := &blocks{progress: progress, seen: map[Piece]bool{}}
	for i := range all {
		b.total += all[i].Bytes()
	}
	return b
}

// first says whether a piece was not there before: what runs share is packed once.
func (b *blocks) first(d piece) bool {
	if b.seen[d.content()] {
		b.done += d.Bytes
		return false
	}
	b.seen[d.content()] = true
	return true
}

// pack writes a part to the stream w.
func (b *blocks) pack(w io.Writer, r io.Reader, p Part, stride int) error {
	sum := sha256.New()
	return cmp.Or(b.move(w, io.TeeReader(r, sum), p, stride, transpose), p.compare(sum))
}

// unpack reads a part from the stream r.
func (b *blocks) unpack(w io.Writer, r io.Reader, p Part, stride int) error {
	sum := sha256.New()
	return cmp.Or(b.move(io.MultiWriter(w, sum), r, p, stride, restore), p.compare(sum))
}

func (p *Part) compare(sum hash.Hash) error {
	if hex.EncodeToString(sum.Sum(nil)) != p.SHA256 {
		return fmt.Errorf("is damaged: the checksum of %s is wrong", p.Name)
	}
	return nil
}

// move reads the bytes of a part block by block, turns each, and writes it.
func (b *blocks) move(w io.Writer, r io.Reader, p Part, stride int, turn func(dst, src []byte, stride int)) error {
	if n := min(p.Bytes, packBlock); int64(len(b.from)) < n {
		b.from, b.to = make([]byte, n), make([]byte, n)
	}
	for left := p.Bytes; left > 0; {
		n := min(left, packBlock-packBlock%int64(stride))
		from, to := b.from[:n], b.to[:n]
		if read, err := io.ReadFull(r, from); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("is cut off in %s: %d bytes are missing", p.Name, left-int64(read))
		} else if err != nil {
			return fmt.Errorf("is damaged: %s: %w", p.Name, reason(err))
		}
		turn(to, from, stride)
		if _, err := w.Write(to); err != nil {
			return err
		}
		left -= n
		b.done += n
		b.progress(b.done, b.total)
	}
	return nil
}

// transpose writes the bytes of whole rows column by column, and what is left after them as it is.
func transpose(dst, src []byte, stride int) {
	n := len(src) / stride
	for j := range stride {
		column := dst[j*n : (j+1)*n]
		for i := range column {
			column[i] = src[i*stride+j]
		}
	}
	copy(dst[n*stride:], src[n*stride:])
}

// restore undoes transpose.
func restore(dst, src []byte, stride int) {
	n := len(src) / stride
	for j := range stride {
		for i, v := range src[j*n : (j+1)*n] {
			dst[i*stride+j] = v
		}
	}
	copy(dst[n*stride:], src[n*stride:])
}
