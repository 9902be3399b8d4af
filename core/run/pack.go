package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"pgrlab/core/printable"
	"pgrlab/core/run/files"
	"pgrlab/core/shell"
)

// PackVersion is the version of the format of packed runs that this program writes and reads. They hold the
// sections of checkpoints as FormatVersion says.
const PackVersion = 2

// packMagic begins every file of packed runs. Then follow, as in a checkpoint, the version, the length of
// the header (JSON), the header and the SHA-256 of everything so far. The rest is one zstd stream: for
// each run of the header its files, the data of its checkpoint and the sections of its checkpoint, each
// in blocks of at most packBlock bytes whose rows are transposed (see blocks).
const packMagic = "PGRLABPK"

// packWindow is how far back, in bytes, repetitions are looked for: s' of D_real repeats s, and the recipe
// of D_syn the generator.
const packWindow = 32 << 20

// packBlock is the most that is transposed at once, in bytes.
const packBlock = 16 << 20

// Packed is a run in a file of packed runs.
type Packed struct {
	Name       string `json:"name"`       // of its folder
	Config     string `json:"config"`     // config.toml
	Files      []Part `json:"files"`      // its journal, and others of its folder
	Checkpoint Header `json:"checkpoint"` // the place where it goes on
}

// packHeader is the header of a file of packed runs.
type packHeader struct {
	Program string   `json:"program"`
	Runs    []Packed `json:"runs"`
}

// Packing is a run that is to be packed.
type Packing struct {
	Packed
	dir, path string // of the run and its checkpoint
	limit     Limit
	instead   map[string][]byte // content of data that has no file, by the names that its files will have
}

// Load loads the checkpoint that is to be packed.
func (p *Packing) Load() (*Checkpoint, error) { return LoadCheckpoint(p.path, p.limit) }

// Replace has content packed instead of the data of a name, under that name with a suffix.
func (p *Packing) Replace(name, suffix string, content []byte) {
	for i, d := range p.Checkpoint.Data {
		if d.Name != name {
			continue
		}
		q := Piece{Bytes: int64(len(content)), SHA256: digest(content)}
		q.File = fmt.Sprintf("%s%s-%s%s", path.Base(name), suffix, q.SHA256[:16], compressed)
		p.Checkpoint.Data[i] = Data{name + suffix, []Piece{q}}
		if p.instead == nil {
			p.instead = map[string][]byte{}
		}
		p.instead[q.File] = content
	}
}

// open is Piece.open for a piece that may have no file.
func (p *Packing) open(d piece) (io.ReadCloser, error) {
	if content, is := p.instead[d.File]; is {
		return io.NopCloser(bytes.NewReader(content)), nil
	}
	return d.open(p.dir)
}

// Prepare reads and verifies the run in dir: what Pack will write of it under a name, and the newest of its
// checkpoints from which also a longer run goes on and that can be used. said has a line for each newer
// one that cannot. The run must not be at work.
func Prepare(dir, name string, limit Limit) (p *Packing, said []string, err error) {
	if IsHeld(dir) {
		return nil, nil, fmt.Errorf("its lab is at work: pgrlab stop %s saves it and ends it", shell.Word(dir))
	}
	if by, after := Watched(dir); after > 0 {
		return nil, nil, fmt.Errorf("%s has it: stop it there; if it has ended, pgrlab train --resume there or here takes the run over", by)
	}
	if _, err := Changed(dir); err != nil {
		return nil, nil, err
	}
	root, err := files.OpenRoot(dir)
	if err != nil {
		return nil, nil, reason(err)
	}
	defer root.Close()
	doc, err := root.ReadFile(ConfigName, maxText)
	if err != nil {
		return nil, nil, fmt.Errorf("its %s: %w", ConfigName, reason(err))
	}
	p = &Packing{Packed: Packed{Name: name, Config: string(doc)}, dir: dir, limit: limit}
	if said, err = p.choose(root); err != nil {
		return nil, said, err
	}
	if err := p.list(root); err != nil {
		return nil, said, err
	}
	return p, said, p.validate()
}

// choose finds the checkpoint.
func (p *Packing) choose(root *files.Root) (said []string, err error) {
	all, err := checkpoints(root)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c Found) bool { return c.Err == nil && c.Ended })
	for _, c := range all {
		err := p.usable(root, c)
		if err == nil {
			p.path, p.Checkpoint = c.Path, c.Header
			return said, nil
		}
		said = append(said, fmt.Sprintf("checkpoint %s cannot be used: %v", filepath.Base(c.Path), err))
	}
	if len(all) > 0 {
		return said, errors.New("none of its checkpoints can be used")
	}
	return said, fmt.Errorf("it has no checkpoint yet: pgrlab train --resume %s continues it, and pgrlab checkpoint saves one meanwhile", shell.Word(p.dir))
}

// usable returns why a checkpoint cannot be packed.
func (p *Packing) usable(root *files.Root, c Found) error {
	if c.Err != nil {
		return c.Err
	}
	if err := CheckConfig(p.dir, c.Config); err != nil {
		return err
	}
	if err := checkMark(root, c.Journal); err != nil {
		return err
	}
	if _, err := LoadCheckpoint(c.Path, p.limit); err != nil {
		return err
	}
	for _, d := range c.Data {
		if err := d.Verify(p.dir); err != nil {
			return err
		}
	}
	return nil
}

// list describes the files: the journal as far as its lines are whole, the policy and what a task of files
// is made from.
func (p *Packing) list(root *files.Root) error {
	journal, err := wholeLines(root)
	if err != nil {
		return fmt.Errorf("its journal: %w", reason(err))
	}
	p.Files = []Part{{JournalName, journal.Size, journal.SHA256}}
	others := taskFiles(root)
	if root.Regular(PolicyName) {
		others = append(others, PolicyName)
	}
	for _, name := range others {
		sum, part := sha256.New(), Part{Name: name}
		file, err := root.Open(name)
		if err == nil {
			part.Bytes, err = io.Copy(sum, file)
			file.Close()
		}
		if err != nil {
			return fmt.Errorf("its %s: %w", name, reason(err))
		}
		part.SHA256 = hex.EncodeToString(sum.Sum(nil))
		p.Files = append(p.Files, part)
	}
	return nil
}

// Pack writes runs as one file for another machine; program is the version of this one. Data that several
// of them share is written once. progress is called with the bytes so far and in all.
func Pack(w io.Writer, program string, all []*Packing, progress func(done, total int64)) error {
	h := packHeader{Program: program}
	for _, p := range all {
		h.Runs = append(h.Runs, p.Packed)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(text) > maxHeader {
		return errors.New("that is too much for one file: pack fewer runs at once")
	}
	if _, err := w.Write(headOf(packMagic, PackVersion, text)); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow))
	if err != nil {
		return err
	}
	b := newBlocks(h.Runs, progress)
	for _, p := range all {
		if err := p.pack(z, b); err != nil {
			z.Close()
			return fmt.Errorf("%s: %w", p.dir, err)
		}
	}
	return z.Close()
}

func (p *Packing) pack(w io.Writer, b *blocks) error {
	root, err := files.OpenRoot(p.dir)
	if err != nil {
		return reason(err)
	}
	defer root.Close()
	for _, f := range p.Files {
		file, err := root.Open(f.Name)
		if err == nil {
			err = b.pack(w, file, f, strideOfFile(f.Name))
			file.Close()
		}
		if err != nil {
			return fmt.Errorf("its %s: %w", f.Name, reason(err))
		}
	}
	for _, d := range p.pieces() {
		if !b.first(d) {
			continue
		}
		r, err := p.open(d)
		if err != nil {
			return err
		}
		err = b.pack(w, r, d.part(), d.stride)
		r.Close()
		if err != nil {
			return err
		}
	}
	c, err := p.Load()
	if err != nil {
		return err
	}
	for _, s := range p.Checkpoint.Sections {
		content, _ := c.Section(s.Name)
		if err := b.pack(w, bytes.NewReader(content), s, floats); err != nil {
			return err
		}
	}
	return nil
}

// piece is a file of data with the size of its rows.
type piece struct {
	Piece
	stride int
}

func (p *piece) part() Part { return Part{filepath.Join(DataName, p.File), p.Bytes, p.SHA256} }

// content is the same for equal contents: where in a log they are does not matter.
func (p *piece) content() Piece { return Piece{File: p.File, Bytes: p.Bytes, SHA256: p.SHA256} }

// floats is the stride of numbers of 4 bytes, maxStride the largest of rows.
const floats, maxStride = 4, 1 << 16

// pieces lists the data of the checkpoint. The rows of a log are as long as its pieces say how many there
// are; a wrong length costs bytes of the packed file and nothing else.
func (p *Packed) pieces() (all []piece) {
	for _, d := range p.Checkpoint.Data {
		before := uint64(0)
		for _, q := range d.Pieces {
			at := piece{q, floats}
			switch n := int64(q.End - before); {
			case strings.HasSuffix(q.File, rows+compressed):
				at.stride = 1 // frames
			case strings.HasSuffix(q.File, rows) && n > 0 && q.Bytes%n == 0 && q.Bytes/n >= floats && q.Bytes/n <= maxStride:
				at.stride = int(q.Bytes / n)
			}
			before = q.End
			all = append(all, at)
		}
	}
	return all
}

// strideOfFile is the size of the numbers in a file of the run folder.
func strideOfFile(name string) int {
	if name == PolicyName {
		return floats
	}
	return 1
}

// Bytes is the size of a run before compression.
func (p *Packed) Bytes() (n int64) {
	for _, part := range slices.Concat(p.Files, p.Checkpoint.Sections) {
		n += part.Bytes
	}
	for _, d := range p.pieces() {
		n += d.Bytes
	}
	return n
}

var (
	dataName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.rows|\.zst|\.rows\.zst)$`)
	placed   = regexp.MustCompile(`^[0-9]+(/[a-z]+:[0-9]+)?$`) // positions, which become names of files
)

// largestPacked bounds the bytes of each part, so that their sum is no overflow.
const largestPacked = 1 << 50

// validate returns an error for what no packed run can have: anything can be given a correct checksum, and
// names lead to files.
func (p *Packed) validate() error {
	c := &p.Checkpoint
	if p.Name == "" || len(p.Name) > 200 || p.Name[0] == '.' || strings.ContainsAny(p.Name, `/\`) || printable.Line(p.Name) != p.Name {
		return fmt.Errorf("%q is no name for a run folder", p.Name)
	}
	if len(p.Config) > maxText {
		return fmt.Errorf("is damaged: a %s of %d bytes", ConfigName, len(p.Config))
	}
	if err := c.validate(); err != nil {
		return err
	}
	if !placed.MatchString(c.Position) {
		return fmt.Errorf("is damaged: %q is no position", c.Position)
	}
	if len(p.Files) == 0 || p.Files[0].Name != JournalName || p.Files[0].Bytes < c.Journal.Size {
		return errors.New("is damaged: it has no journal up to its checkpoint")
	}
	seen := map[string]Part{}
	var all []Part
	for i, f := range p.Files {
		if i > 0 && f.Name != PolicyName && !isTaskFile(f.Name) {
			return fmt.Errorf("is damaged: %q is no file of a run", f.Name)
		}
		all = append(all, f)
	}
	for _, d := range p.pieces() {
		if !dataName.MatchString(d.File) {
			return fmt.Errorf("is damaged: %q is no file of data", d.File)
		}
		all = append(all, d.part())
	}
	for _, f := range all {
		if other, is := seen[f.Name]; is && (other != f || !strings.HasPrefix(f.Name, DataName)) {
			return fmt.Errorf("is damaged: it has two files %s", f.Name)
		}
		seen[f.Name] = f
	}
	for _, f := range slices.Concat(all, c.Sections) {
		if f.Bytes < 0 || f.Bytes > largestPacked {
			return fmt.Errorf("is damaged: %s claims %d bytes", f.Name, f.Bytes)
		}
	}
	return nil
}
