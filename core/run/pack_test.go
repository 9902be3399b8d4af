package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run/files"
)

// packable makes a run with a log of rows in two files, data, a policy, the files of a task, and lines
// after its checkpoint. In a row s' is the s of the next one.
func packable(t testing.TB, dir string) {
	t.Helper()
	f, err := Create(dir, []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := Line{Type: "note", Member: NoMember}
	c := sample(20, "20/fit:3")
	c.Config = f.Config()
	if err := f.Append(line); err != nil {
		t.Fatal(err)
	}
	c.Journal = f.Mark()
	real := Data{Name: "0/real"}
	for k := range 2 {
		log, err := f.NewLog("real-0")
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Append(rowsFrom(k*500, 500)); err != nil {
			t.Fatal(err)
		}
		p := log.Piece()
		p.End = uint64((k + 1) * 500)
		real.Pieces = append(real.Pieces, p)
		log.Append([]byte("rows of later checkpoints"))
		log.Close()
	}
	recipe, err := f.WriteData("synthetic-recipe", func(w io.Writer) error { return write(w, c.Sections[1].Content) })
	if err != nil {
		t.Fatal(err)
	}
	c.Data = []Data{real, {Name: "0/synthetic-recipe", Pieces: []Piece{recipe}}}
	if _, _, err := f.WriteCheckpoint(c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{PolicyName, "task-own.zip"} {
		if err := f.Write(name, []byte("content of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Append(line); err != nil {
		t.Fatal(err)
	}
}

func write(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

// rowsFrom makes n rows [s, s'] of a sequence of numbers that do not compress.
func rowsFrom(first, n int) (b []byte) {
	for i := first; i < first+n; i++ {
		for _, x := range []int{i, i + 1} {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(math.Sin(1e3*float64(x)))))
		}
	}
	return b
}

func packed(t testing.TB, dirs ...string) []byte {
	t.Helper()
	var all []*Packing
	for _, dir := range dirs {
		p, said, err := Prepare(dir, filepath.Base(dir), 1<<30)
		if err != nil || len(said) > 0 {
			t.Fatal(said, err)
		}
		all = append(all, p)
	}
	var b bytes.Buffer
	if err := Pack(&b, "test", all, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpacked(file []byte, into string) ([]string, error) {
	return Unpack(bytes.NewReader(file), into, func(*Packed) (Limit, error) { return 1 << 20, nil }, func(int64, int64) {})
}

// What is unpacked are run folders with the same content, in which a run can go on; s' of the rows takes
// no room, and neither does what two runs share.
func TestRunsArePackedAndUnpacked(t *testing.T) {
	top := t.TempDir()
	a, b, there := filepath.Join(top, "a"), filepath.Join(top, "b"), filepath.Join(top, "there")
	packable(t, a)
	packable(t, b)
	one, two := packed(t, a), packed(t, a, b)
	if len(one) > 5500 { // 8000 bytes of rows, of which half are new
		t.Errorf("%d bytes", len(one))
	}
	if more := len(two) - len(one); more > 2000 { // its names and sizes
		t.Errorf("a second run with the same data takes %d bytes more", more)
	}
	dirs, err := unpacked(two, there)
	if err != nil || !slices.Equal(dirs, []string{filepath.Join(there, "a"), filepath.Join(there, "b")}) {
		t.Fatal(dirs, err)
	}
	for i, dir := range dirs {
		found, err := Checkpoints(dir)
		if err != nil || len(found) != 1 || found[0].Err != nil {
			t.Fatal(found, err)
		}
		c, err := LoadCheckpoint(found[0].Path, 1<<20)
		if err != nil || len(c.Sections) != 3 || !bytes.Equal(c.Sections[1].Content, sample(20, "20").Sections[1].Content) {
			t.Error(err)
		}
		for _, d := range c.Data {
			if err := d.Verify(dir); err != nil {
				t.Error(err)
			}
		}
		if err := CheckConfig(dir, c.Config); err != nil {
			t.Error(err)
		}
		if rest, err := Changed(dir); rest != 0 || err != nil {
			t.Errorf("%d bytes of the journal are not sealed: %v", rest, err)
		}
		for _, name := range []string{ConfigName, JournalName, PolicyName, "task-own.zip"} {
			want, _ := os.ReadFile(filepath.Join([]string{a, b}[i], name))
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if tail, err := f.Rewind(c.Journal); err != nil || tail == "" {
			t.Errorf("%q, %v", tail, err)
		}
		f.Close()
	}
}

// A file with one wrong bit, one that is cut off and one that goes on are refused, and leave nothing.
func TestADamagedFileOfRunsIsRefused(t *testing.T) {
	top := t.TempDir()
	packable(t, filepath.Join(top, "a"))
	good := packed(t, filepath.Join(top, "a"))
	refused := func(what string, file []byte) {
		t.Helper()
		into := filepath.Join(top, "there")
		dirs, err := unpacked(file, into)
		if entries, _ := os.ReadDir(into); err == nil || len(dirs)+len(entries) > 0 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v, %v", what, dirs, entries, err)
		}
		if _, err := os.Stat(into); err == nil {
			t.Fatalf("%s: the folder for the runs is left", what)
		}
	}
	if _, err := unpacked(good, filepath.Join(top, "good")); err != nil {
		t.Fatal(err)
	}
	want := tree(t, filepath.Join(top, "good"))
	for i := 0; i < len(good); i += 1 + len(good)/150 {
		bad, into := slices.Clone(good), filepath.Join(top, fmt.Sprint(i))
		bad[i] ^= 1 << (i % 8)
		if _, err := unpacked(bad, into); err == nil && !maps.Equal(tree(t, into), want) { // there are bits that mean nothing, as the level of a zstd frame
			t.Errorf("a bit of byte %d flipped: other content", i)
		}
		refused(fmt.Sprint("cut at ", i), good[:i])
	}
	refused("longer", append(slices.Clone(good), 1))
	refused("empty", nil)
	refused("a journal", []byte(`{"type":"note","step":0}`+"\n"))
}

// headed is a file of packed runs with another header.
func headed(t testing.TB, file []byte, version uint32, change func(*Packed)) []byte {
	t.Helper()
	text, err := readHead(bytes.NewReader(file), packMagic, PackVersion, "file")
	var h packHeader
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(&h.Runs[0])
	other, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return append(headOf(packMagic, version, other), file[preamble+len(text)+sha256.Size:]...)
}

// A file that was made with correct checksums leads to no file outside of its run folders, and to
// no more memory or disk than there can be.
func TestAHostileFileOfRunsIsRefused(t *testing.T) {
	top := t.TempDir()
	packable(t, filepath.Join(top, "a"))
	good := packed(t, filepath.Join(top, "a"))
	data := func(p *Packed) *Piece { return &p.Checkpoint.Data[0].Pieces[0] }
	for says, change := range map[string]func(*Packed){
		"no name for a run folder":              func(p *Packed) { p.Name = "../b" },
		`"." is no name`:                        func(p *Packed) { p.Name = "." },
		`"" is no name`:                         func(p *Packed) { p.Name = "" },
		`is no name for`:                        func(p *Packed) { p.Name = "b\x1b[2J" },
		`"../x.rows" is no file of data`:        func(p *Packed) { data(p).File = "../x.rows" },
		`"../lock" is no file of a run`:         func(p *Packed) { p.Files[1].Name = "../lock" },
		`"task-../../x.zip" is no file`:         func(p *Packed) { p.Files[1].Name = "task-../../x.zip" },
		`"lock" is no file of a run`:            func(p *Packed) { p.Files[1].Name = "lock" },
		"two files task-own.zip":                func(p *Packed) { p.Files[2].Name = p.Files[1].Name },
		"two files data/real-0-0.rows":          func(p *Packed) { p.Checkpoint.Data[0].Pieces[1].File = data(p).File },
		`"20/../../x" is no position`:           func(p *Packed) { p.Checkpoint.Position = "20/../../x" },
		"no journal up to its checkpoint":       func(p *Packed) { p.Checkpoint.Journal.Size = 1 << 40 },
		"the journal has been changed":          func(p *Packed) { p.Checkpoint.Journal.SHA256 = "0" },
		"claims 5000000000000000 bytes":         func(p *Packed) { data(p).Bytes = 5e15 },
		"claims 1048577 bytes, which this run":  func(p *Packed) { p.Checkpoint.Sections[1].Bytes = 1<<20 + 1 },
		"claims 2097152 bytes, which this run":  func(p *Packed) { p.Checkpoint.Data[1].Pieces[0].Bytes = 2 << 20 },
		"are free in":                           func(p *Packed) { data(p).Bytes = 1 << 50 },
		"is cut off":                            func(p *Packed) { p.Checkpoint.Sections[0].Bytes++ },
		"the checksum of " + PolicyName:         func(p *Packed) { p.Files[2].SHA256 = "0" },
		"the checksum of data/real-0-0.rows is": func(p *Packed) { data(p).SHA256 = "0" },
		"step -1":                               func(p *Packed) { p.Checkpoint.Step = -1 },
		"something follows":                     func(p *Packed) { p.Checkpoint.Sections = p.Checkpoint.Sections[:1] },
	} {
		before := names(t, top)
		_, err := unpacked(headed(t, good, PackVersion, change), filepath.Join(top, "there"))
		if err == nil || !strings.Contains(err.Error(), says) && says != "is cut off" {
			t.Errorf("%v, want %s", err, says)
		}
		os.Remove(filepath.Join(top, "there"))
		if after := names(t, top); after != before {
			t.Errorf("%s: it leaves %s, before %s", says, after, before)
		}
	}
	strides := func(p *Packed) { data(p).End = 1 } // rows of 4000 bytes: nothing that is checked
	if _, err := unpacked(headed(t, good, PackVersion, strides), filepath.Join(top, "there")); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("with rows of another length: %v", err)
	}
	if _, err := unpacked(headed(t, good, PackVersion+1, func(*Packed) {}), top); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer one: %v", err)
	}
	if _, err := unpacked(good, top); err == nil || !strings.Contains(err.Error(), "holds something already: choose another one with --out") {
		t.Errorf("in a folder that is taken: %v", err)
	}
}

// tree has the content of all files below a folder by their paths in it.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range strings.Fields(names(t, dir)) {
		if text, err := os.ReadFile(path); err == nil {
			all[strings.TrimPrefix(path, dir)] = string(text)
		}
	}
	if len(all) == 0 {
		t.Fatalf("nothing is in %s", dir)
	}
	return all
}

func names(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		fmt.Fprintln(&b, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A full disk at any write leaves no folder.
func TestADiskThatIsFullHoldsNoUnpackedRun(t *testing.T) {
	top := t.TempDir()
	packable(t, filepath.Join(top, "a"))
	good := packed(t, filepath.Join(top, "a"))
	for full := 0; ; full++ {
		into, n := filepath.Join(top, "there"), 0
		stop := files.Watch(func(o files.Op) error {
			if o.Kind != files.Wrote || !strings.Contains(o.Path, building) {
				return nil
			}
			if n++; n > full {
				return syscall.ENOSPC
			}
			return nil
		})
		_, err := unpacked(good, into)
		stop()
		if err == nil {
			if full < 8 {
				t.Errorf("only %d writes", full)
			}
			return
		}
		if entries, _ := os.ReadDir(into); !IsFull(err) || len(entries) > 0 || strings.Contains(err.Error(), building) {
			t.Errorf("after %d writes: %v, %v", full, err, entries)
		}
	}
}

// A run is not packed while it is at work, without a checkpoint that can be used, or with a journal that
// was changed. Of several checkpoints the newest one that can be used is taken.
func TestWhatIsNotPacked(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a")
	packable(t, dir)
	refused := func(says string) {
		t.Helper()
		if _, _, err := Prepare(dir, "a", 1<<30); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	refused("its lab is at work: pgrlab stop")
	later := sample(30, "30")
	later.Config, later.Data = f.Config(), []Data{{Name: "0/real", Pieces: []Piece{{File: "gone.rows", Bytes: 3}}}}
	if _, _, err := f.WriteCheckpoint(later); err != nil {
		t.Fatal(err)
	}
	f.Close()
	p, said, err := Prepare(dir, "a", 1<<30)
	if err != nil || p.Checkpoint.Step != 20 || len(said) != 1 || !strings.Contains(said[0], "000000030.ckpt cannot be used: data/gone.rows") {
		t.Errorf("%+v, %q, %v", p, said, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, DataName)); err != nil {
		t.Fatal(err)
	}
	refused("none of its checkpoints can be used")
	if err := os.RemoveAll(filepath.Join(dir, CheckpointsName)); err != nil {
		t.Fatal(err)
	}
	refused("it has no checkpoint yet")
	if err := os.WriteFile(filepath.Join(dir, JournalName), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused("the journal is not what the run had written at its end")
}

// Whatever the file, there are either whole runs or nothing.
func FuzzUnpack(f *testing.F) {
	top := f.TempDir()
	packable(f, filepath.Join(top, "a"))
	good := packed(f, filepath.Join(top, "a"))
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(headed(f, good, PackVersion, func(p *Packed) { p.Name = "x" }))
	f.Add(headed(f, good, PackVersion, func(p *Packed) { p.Checkpoint.Data = nil }))
	f.Fuzz(func(t *testing.T, file []byte) {
		into := t.TempDir()
		dirs, err := unpacked(file, into)
		entries, _ := os.ReadDir(into)
		if len(entries) != len(dirs) || err != nil && len(dirs) > 0 {
			t.Errorf("%v, %v, %v", dirs, entries, err)
		}
	})
}
