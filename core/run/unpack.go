package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"pgrlab/core/printable"
)

// ReadPacked reads which runs a file of packed runs holds, and not the rest of it.
func ReadPacked(r io.Reader) ([]Packed, error) {
	text, err := readHead(r, packMagic, PackVersion, "file of packed runs")
	if err != nil {
		return nil, err
	}
	var h packHeader
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("is damaged: its header: %w", err)
	}
	for i := range h.Runs {
		printable.Fields(&h.Runs[i].Checkpoint)
		if err := h.Runs[i].validate(); err != nil {
			return nil, err
		}
	}
	return h.Runs, nil
}

// Unpack makes the run folders of a file of packed runs below the folder into: all of them, after
// everything was verified, or none. limit says how much a checkpoint of a run with that config.toml can
// hold. progress is called with the bytes so far and in all.
func Unpack(r io.Reader, into string, limit func(p *Packed) (Limit, error), progress func(done, total int64)) (dirs []string, err error) {
	all, err := ReadPacked(r)
	if err != nil {
		return nil, err
	}
	u := unpacking{blocks: newBlocks(all, progress), from: map[Piece]*Folder{}}
	if free := Free(into); free > 0 && u.blocks.total > free {
		return nil, fmt.Errorf("claims %d bytes, and %d are free in %s", u.blocks.total, free, into)
	}
	for i := range all {
		p := &all[i]
		most, err := limit(p)
		if err == nil {
			err = most.checkAll(p)
		}
		if err == nil {
			err = vacant(filepath.Join(into, p.Name))
		}
		if err != nil {
			return nil, err
		}
	}
	if _, gone := os.Lstat(into); gone != nil {
		defer func() {
			if err != nil {
				os.Remove(into) // if nothing is in it
			}
		}()
	}
	z, err := unpack(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	u.stream = z
	defer func() {
		for _, f := range u.folders {
			f.Close()
		}
	}()
	for i := range all {
		if err := u.run(&all[i], filepath.Join(into, all[i].Name)); err != nil {
			return nil, err
		}
	}
	if n, err := io.CopyN(io.Discard, z, 1); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.New("is damaged: something follows the last run")
	}
	for i, f := range u.folders {
		if err := f.Publish(); err != nil {
			return dirs, err
		}
		dirs = append(dirs, filepath.Join(into, all[i].Name))
	}
	return dirs, nil
}

// checkAll is check for a packed run.
func (l Limit) checkAll(p *Packed) error {
	if err := l.check(p.Checkpoint.Sections); err != nil {
		return err
	}
	for _, d := range p.Checkpoint.Data {
		for _, q := range d.Pieces {
			if strings.HasSuffix(q.File, rows+compressed) {
				continue // frames, which the limit does not contain; the room on the disk does
			}
			if err := l.Check(Data{d.Name, []Piece{q}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpacking is the state of an Unpack.
type unpacking struct {
	blocks  *blocks
	stream  io.Reader
	folders []*Folder         // not published yet
	from    map[Piece]*Folder // where a piece is
}

// run makes the folder of a run.
func (u *unpacking) run(p *Packed, dir string) error {
	f, err := Build(dir, []byte(p.Config))
	if err != nil {
		return err
	}
	u.folders = append(u.folders, f)
	for i, part := range p.Files {
		if i == 0 {
			err = u.journal(f, part, p.Checkpoint.Journal)
		} else {
			err = u.file(f, part, strideOfFile(part.Name))
		}
		if err != nil {
			return f.underTarget(err)
		}
	}
	for _, d := range p.pieces() {
		if err := u.piece(f, d); err != nil {
			return f.underTarget(err)
		}
	}
	c := &Checkpoint{Header: p.Checkpoint}
	for _, s := range p.Checkpoint.Sections {
		var b bytes.Buffer
		if err := u.blocks.unpack(&b, u.stream, s, floats); err != nil {
			return err
		}
		c.Sections = append(c.Sections, Section{s.Name, b.Bytes()})
	}
	c.Config = f.config
	if _, _, err = f.WriteCheckpoint(c); err != nil {
		return f.underTarget(err)
	}
	return nil
}

// journal writes the journal, which begins with what is before m.
func (u *unpacking) journal(f *Folder, p Part, m Mark) error {
	sum := sha256.New()
	if err := u.blocks.unpack(io.MultiWriter(f.journal, sum), u.stream, p, strideOfFile(p.Name)); err != nil {
		return err
	}
	f.size, f.sum = p.Bytes, sum
	if err := f.CheckMark(m); err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	return nil
}

// file writes a file of the folder, compressed if its name says so.
func (u *unpacking) file(f *Folder, p Part, stride int) error {
	return f.Save(p.Name, func(w io.Writer) error {
		if filepath.Ext(p.Name) != compressed {
			return u.blocks.unpack(w, u.stream, p, stride)
		}
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		if err := u.blocks.unpack(z, u.stream, p, stride); err != nil {
			z.Close()
			return err
		}
		return z.Close()
	})
}

// piece writes a file of data, or shares it with the run that has it already.
func (u *unpacking) piece(f *Folder, d piece) error {
	if err := f.below(DataName); err != nil {
		return fmt.Errorf("write %s: %w", f.Path(DataName), reason(err))
	}
	if u.blocks.first(d) {
		u.from[d.content()] = f
		return u.file(f, d.part(), d.stride)
	}
	return f.share(u.from[d.content()].root, d.part().Name)
}
