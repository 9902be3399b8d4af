package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"pgrlab/core/run/files"
)

// Data is something large that checkpoints refer to. Its content is the concatenation of
// its pieces.
type Data struct {
	Name   string  `json:"name"` // like the name of a section: "0/real"
	Pieces []Piece `json:"pieces"`
}

// Piece is the beginning of a file in the folder data.
type Piece struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"` // before compression
	SHA256 string `json:"sha256"`
	End    uint64 `json:"end,omitempty"` // of a log: rows that were ever added up to here
}

// rows is the suffix of the names of logs.
const rows = ".rows"

// compressed is the suffix of the names of compressed files.
const compressed = ".zst"

// Log is a file that only grows. Checkpoints refer to longer and longer beginnings of it,
// and share it with each other and with forks. After a resume, and when a file is long, a new one
// is begun: a file to which others refer is never touched, and one whose rows are all forgotten is
// removed.
type Log struct {
	file   *files.File
	name   string
	size   int64 // before compression
	length int64 // of the file
	sum    hash.Hash
	torn   bool // something may follow the rows in the file
	held   func() error
	packer *zstd.Encoder // nil: nothing is compressed
}

// NewLog begins a file data/NAME-K.rows with the first number K that is free.
func (f *Folder) NewLog(name string) (*Log, error) { return f.newLog(name, rows) }

// NewPackedLog is NewLog with a file that is compressed, each Append by itself.
func (f *Folder) NewPackedLog(name string) (*Log, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packedWindow))
	if err != nil {
		return nil, err
	}
	l, err := f.newLog(name, rows+compressed)
	if err == nil {
		l.packer = packer
	}
	return l, err
}

// packedWindow is how far back, in bytes, a packed log looks for repetitions: many frames.
const packedWindow = 4 << 20

func (f *Folder) newLog(name, ending string) (*Log, error) {
	if err := f.below(DataName); err != nil {
		return nil, fmt.Errorf("write %s: %w", f.Path(DataName), reason(err))
	}
	for k := 0; ; k++ {
		l := &Log{name: fmt.Sprintf("%s-%d%s", name, k, ending), sum: sha256.New(), held: f.there}
		var err error
		l.file, err = f.root.OpenFile(filepath.Join(DataName, l.name), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			if err = f.root.Sync(DataName); err != nil {
				l.file.Close()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", f.Path(DataName), reason(err))
		}
		return l, nil
	}
}

// Append adds b and puts it on the disk. Either all of b is added or nothing.
func (l *Log) Append(b []byte) error {
	if err := l.held(); err != nil {
		return fmt.Errorf("write %s: %w", l.name, err)
	}
	written := b
	if l.packer != nil {
		written = l.packer.EncodeAll(b, nil)
	}
	err := l.cut()
	if err == nil {
		l.torn = true
		_, err = l.file.Write(written)
	}
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.cut() // a disk that is full may refuse even that: the next Append tries again
		return fmt.Errorf("write %s: %w", l.name, reason(err))
	}
	l.torn = false
	l.sum.Write(b)
	l.size += int64(len(b))
	l.length += int64(len(written))
	return nil
}

// cut removes what an Append that failed has left after the rows, where the next ones belong.
func (l *Log) cut() error {
	if !l.torn {
		return nil
	}
	err := l.file.Truncate(l.length)
	if err == nil {
		_, err = l.file.Seek(l.length, io.SeekStart)
	}
	l.torn = err != nil
	return err
}

// Piece describes what has been added so far.
func (l *Log) Piece() Piece {
	return Piece{File: l.name, Bytes: l.size, SHA256: hex.EncodeToString(l.sum.Sum(nil))}
}

// Close ends the file.
func (l *Log) Close() error { return l.file.Close() }

// WriteData writes content to a compressed file of its own that is named by its content,
// so equal contents share one file.
func (f *Folder) WriteData(name string, content func(w io.Writer) error) (Piece, error) {
	if err := f.below(DataName); err != nil {
		return Piece{}, fmt.Errorf("write %s: %w", f.Path(DataName), reason(err))
	}
	sum := sha256.New()
	out := &counter{w: sum}
	temporary := filepath.Join(DataName, name+unfinished)
	err := f.Save(temporary, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		if err := content(io.MultiWriter(z, out)); err != nil {
			z.Close()
			return err
		}
		return z.Close()
	})
	if err != nil {
		f.forget(temporary)
		return Piece{}, err
	}
	p := Piece{Bytes: out.n, SHA256: hex.EncodeToString(sum.Sum(nil))}
	p.File = fmt.Sprintf("%s-%s%s", name, p.SHA256[:16], compressed)
	if err = f.held(); err == nil {
		err = f.root.Rename(temporary, filepath.Join(DataName, p.File))
	}
	if err == nil {
		err = f.root.Sync(DataName)
	}
	if err != nil {
		f.forget(temporary)
		return Piece{}, fmt.Errorf("write %s: %w", p.File, reason(err))
	}
	return p, nil
}

// forget removes a file that was not finished, which on a disk that is full takes room from what is tried
// next. In a folder that was lost it may be that of another process.
func (f *Folder) forget(temporary string) {
	if f.held() == nil {
		f.root.Remove(temporary)
	}
}

// below makes a folder in the run folder.
func (f *Folder) below(name string) error {
	if err := f.there(); err != nil {
		return err
	}
	return f.root.Mkdir(name)
}

// Verify reads every piece of d and returns an error for one that has changed. dir is the
// run folder.
func (d Data) Verify(dir string) error {
	for _, p := range d.Pieces {
		r, err := p.open(dir)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			r.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Open returns a reader of the content. A piece that has changed yields an error at its
// end; see Verify.
func (d Data) Open(dir string) (io.ReadCloser, error) {
	all := &pieces{}
	var readers []io.Reader
	for _, p := range d.Pieces {
		r, err := p.open(dir)
		if err != nil {
			all.Close()
			return nil, err
		}
		all.open = append(all.open, r)
		readers = append(readers, r)
	}
	all.Reader = io.MultiReader(readers...)
	return all, nil
}

type pieces struct {
	io.Reader
	open []io.Closer
}

func (p *pieces) Close() error {
	var err error
	for _, c := range p.open {
		err = errors.Join(err, c.Close())
	}
	return err
}

// open reads the piece, verifying it.
func (p Piece) open(dir string) (io.ReadCloser, error) {
	if p.File != filepath.Base(p.File) || p.Bytes < 0 {
		return nil, fmt.Errorf("%q is no file of data", p.File)
	}
	file, err := files.Open(dir, filepath.Join(DataName, p.File))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(DataName, p.File), reason(err))
	}
	v := &verifier{piece: p, sum: sha256.New(), left: p.Bytes, file: file, from: file}
	if filepath.Ext(p.File) == compressed {
		z, err := unpack(file)
		if err != nil {
			file.Close()
			return nil, err
		}
		v.from, v.close = z, z.Close
	}
	return v, nil
}

// verifier reads a piece and compares its checksum at the end.
type verifier struct {
	piece Piece
	sum   hash.Hash
	left  int64
	file  io.Closer
	from  io.Reader
	close func()
}

func (v *verifier) Read(b []byte) (int, error) {
	if v.left == 0 {
		if hex.EncodeToString(v.sum.Sum(nil)) != v.piece.SHA256 {
			return 0, fmt.Errorf("%s is damaged: its checksum is wrong", filepath.Join(DataName, v.piece.File))
		}
		return 0, io.EOF
	}
	n, err := v.from.Read(b[:min(int64(len(b)), v.left)])
	v.sum.Write(b[:n])
	v.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if v.left > 0 {
			err = fmt.Errorf("%s is damaged: it is too short", filepath.Join(DataName, v.piece.File))
		}
	} else if err != nil {
		err = fmt.Errorf("%s is damaged: %w", filepath.Join(DataName, v.piece.File), reason(err))
	}
	return n, err
}

func (v *verifier) Close() error {
	if v.close != nil {
		v.close()
	}
	return v.file.Close()
}
