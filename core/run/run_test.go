package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/run/files"
	"pgrlab/core/testing/racing"
)

func lines(t *testing.T, text string) (types []string, err error) {
	t.Helper()
	r := NewReader(strings.NewReader(text))
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return types, nil
		}
		if err != nil {
			return types, err
		}
		types = append(types, e.Type)
	}
}

func TestAFolderIsWrittenAndReadBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	f, err := Create(dir, []byte("seed = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	body := struct {
		Loss Float `json:"loss"`
		Obs  any   `json:"obs"`
	}{Float(math.NaN()), map[string]int{"seconds": 3}}
	for _, l := range []Line{
		{Type: "start", Member: NoMember},
		{Type: "refit", Step: 10, Member: 2, Body: body, WallS: 1.23456},
	} {
		if err := f.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Save(PolicyName, func(w io.Writer) error { _, err := io.WriteString(w, "weights"); return err }); err != nil {
		t.Fatal(err)
	}
	size := f.Size()
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"start","step":0,"wall_s":0.000}` + "\n" +
		`{"type":"refit","step":10,"member":2,"loss":"NaN","obs":{"seconds":3},"wall_s":1.235}` + "\n"
	for name, content := range map[string]string{ConfigName: "seed = 1\n", JournalName: want, PolicyName: "weights"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != content {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if size != int64(len(want)) {
		t.Errorf("size %d of %d", size, len(want))
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*.new-*"))
	if len(left) > 0 {
		t.Errorf("temporary files %v are left", left)
	}
	e, err := NewReader(strings.NewReader(want[strings.IndexByte(want, '\n')+1:])).Next()
	var fields struct{ Loss Float }
	if err != nil || e.Member != 2 || e.Step != 10 || e.WallS != 1.235 || e.Fields(&fields) != nil || !math.IsNaN(float64(fields.Loss)) {
		t.Errorf("read %+v, %+v, %v", e, fields, err)
	}
}

func TestNoRunIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(dir, []byte("a = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, nil); err == nil || err.Error() != "run folder "+dir+" is in use by another pgrlab: choose another one with --out" {
		t.Errorf("while it runs: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, nil); err == nil || err.Error() != "run folder "+dir+" holds a run already: choose another one with --out" {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := Create(dir, nil); !errors.Is(err, ErrHolds) {
		t.Errorf("it is another error: %v", err)
	}
	if err := RemoveUnbegun(dir); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, ConfigName)); string(text) != "a = 1\n" {
		t.Errorf("config.toml is now %q", text)
	}
}

// A policy from elsewhere, in a folder that is not one of a run, is not replaced.
func TestNoPolicyIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, PolicyName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, nil); err == nil || err.Error() != "run folder "+dir+" has a policy.bin, which the run would replace: choose another one with --out" {
		t.Errorf("%v", err)
	}
}

func TestErrorsAreOneLineWithoutRepetition(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, nil); err == nil || err.Error() != "make run folder "+file+": not a directory: choose another one with --out" {
		t.Errorf("a file: %v", err)
	}
	below := filepath.Join(file, "run")
	if _, err := Create(below, nil); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
	if os.Geteuid() != 0 {
		locked := filepath.Join(t.TempDir(), "locked")
		if err := os.Mkdir(locked, 0o555); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(locked, nil); !errors.Is(err, fs.ErrPermission) || strings.Count(err.Error(), locked) != 1 {
			t.Errorf("not writable: %v", err)
		}
	}
	if _, err := Latest(file + "s"); err == nil || err.Error() != "look for runs in "+file+"s: no such file or directory: "+nameIt {
		t.Errorf("latest: %v", err)
	}
}

// free is the lock of a folder that nothing else asks for.
type free struct{}

func (free) held() error  { return nil }
func (free) took() string { return "" }
func (free) Close() error { return nil }

// disk is a journal's file on a disk with room for a number of bytes.
type disk struct {
	content []byte
	room    int
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room-len(d.content))
	d.content = append(d.content, p[:n]...)
	if n < len(p) {
		return n, &fs.PathError{Op: "write", Path: "/run/events.jsonl", Err: syscall.ENOSPC}
	}
	return n, nil
}
func (d *disk) Read([]byte) (int, error)                { return 0, io.EOF }
func (d *disk) Truncate(size int64) error               { d.content = d.content[:size]; return nil }
func (d *disk) Seek(offset int64, _ int) (int64, error) { return offset, nil }
func (d *disk) Sync() error                             { return nil }
func (d *disk) Close() error                            { return nil }

func TestAFullDiskTakesNoPartOfALine(t *testing.T) {
	d := &disk{room: 60}
	root := opened(t, t.TempDir())
	f := &Folder{root: root, lock: free{}, sum: sha256.New(), journal: d}
	line := Line{Type: "note", Step: 1, Member: NoMember}
	if err := f.Append(line); err != nil {
		t.Fatal(err)
	}
	whole := string(d.content)
	err := f.Append(line)
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "write journal "+root.Name()+"/events.jsonl: no space left on device" {
		t.Errorf("%v", err)
	}
	if string(d.content) != whole {
		t.Errorf("the journal is %q, want %q", d.content, whole)
	}
	d.room = 1000
	if err := f.Append(line); err != nil || string(d.content) != whole+whole {
		t.Errorf("with room again: %q, %v", d.content, err)
	}
}

func TestAFailedSaveLeavesTheOldFile(t *testing.T) {
	f, err := Create(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Write(PolicyName, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := f.Save(PolicyName, func(w io.Writer) error { w.Write([]byte("ne")); return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(f.Path(PolicyName)); string(text) != "old" {
		t.Errorf("policy is %q", text)
	}
	if left, _ := filepath.Glob(f.Path("*.new-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestLinesThatCannotBeWritten(t *testing.T) {
	for _, l := range []Line{{}, {Type: "x", Body: []int{1}}, {Type: "x", Body: func() {}}} {
		if text, err := json.Marshal(l); err == nil {
			t.Errorf("%+v became %s", l, text)
		}
	}
	text, err := json.Marshal(Line{Type: "done", Step: 3, Member: NoMember, Body: struct{}{}})
	if err != nil || string(text) != `{"type":"done","step":3,"wall_s":0.000}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestFloats(t *testing.T) {
	for v, want := range map[Float]string{1: "1", 0.1: "0.1", 1e-7: "1e-7", 1e21: "1e+21", Float(math.Inf(1)): `"Inf"`, Float(math.Inf(-1)): `"-Inf"`} {
		text, err := json.Marshal(v)
		var back Float
		if err != nil || string(text) != want || json.Unmarshal(text, &back) != nil || back != v {
			t.Errorf("%g is %s, reads back as %g, %v", v, text, back, err)
		}
	}
	var f Float
	if err := json.Unmarshal([]byte(`"much"`), &f); err == nil {
		t.Error("a word is a number")
	}
}

func TestReaderSkipsATornLastLineOnly(t *testing.T) {
	const a, b = `{"type":"start","step":0}`, `{"type":"done","step":9}`
	for text, want := range map[string]string{
		"":                               "",
		a:                                "start",
		a + "\n":                         "start",
		a + "\n\n" + b + "\n":            "start done",
		a + "\n" + b[:10]:                "start",
		a + "\n" + b[:10] + "\n":         "start",
		a + "\n\x00\x00\x00\x00":         "start",
		a + "\r\n" + b + "\r\n":          "start done",
		b[:10] + "\n" + a + "\n":         "error: journal line 1",
		a + "\n[1]\n" + b:                "error: journal line 2",
		`{"step":1}` + "\n" + b:          "error: journal line 1: no type or no step",
		`{"type":1,"step":1}` + "\n" + b: "error: journal line 1",
	} {
		types, err := lines(t, text)
		got := strings.Join(types, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want && !(err != nil && strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// sea is endless text without a line break.
type sea struct{}

func (s *sea) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// A line longer than any that a run writes is refused before it fills the memory, wherever it
// occurs, and no such line is written.
func TestLinesAreBounded(t *testing.T) {
	if racing.On {
		t.Skip("64 MiB on one goroutine are half a minute for the detector, which sees nothing in them")
	}
	const first = `{"type":"start","step":0}` + "\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(io.MultiReader(strings.NewReader(first), io.LimitReader(&sea{}, 1<<40)))
	if e, err := r.Next(); err != nil || e.Type != "start" {
		t.Fatal(e, err)
	}
	if _, err := r.Next(); err == nil || err.Error() != "read journal: line 2 is longer than 64 MiB: this is no journal of a run" {
		t.Errorf("%v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8*maxLine {
		t.Errorf("it took %d MiB", took>>20)
	}
	f, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Append(Line{Type: "note", Member: NoMember, Body: map[string]string{"text": strings.Repeat("x", maxLine)}}); err == nil || f.Size() != 0 {
		t.Errorf("%v, %d bytes", err, f.Size())
	}
	if err := f.Append(Line{Type: "note", Member: NoMember, Body: map[string]string{"text": strings.Repeat("x", maxLine-100)}}); err != nil {
		t.Fatal(err)
	}
	seen := 0
	if err := f.Tail(EmptyMark(), func(Entry) { seen++ }, func(int) {}); err != nil || seen != 1 {
		t.Errorf("%d lines, %v", seen, err)
	}
	if m, err := wholeLines(f.root); err != nil || m != f.Mark() {
		t.Errorf("%+v, %v", m, err)
	}
}

// A user without write permission for a run folder is told what to do, and nothing in the folder is
// changed.
func TestAFolderThatMayNotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := Create(dir, []byte("x = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Append(line(1)), f.Close()); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	for _, why := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS} {
		stop := files.Watch(func(o files.Op) error { return &fs.PathError{Op: "open", Path: o.Path, Err: why} })
		_, err := Open(dir)
		_, created := Create(filepath.Join(dir, "new"), nil)
		stop()
		if want := "lock run folder " + dir + ": " + why.Error() + ": go on with a copy of it: cp -r " + dir + " COPY, then --resume COPY"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if want := "make run folder " + dir + "/new: " + why.Error() + ": choose another one with --out"; created == nil || created.Error() != want {
			t.Errorf("%v, want %s", created, want)
		}
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Error("something was changed")
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(copied); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestCanonicalGolden(t *testing.T) {
	in, err := os.ReadFile("testdata/journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/canonical.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var once, twice bytes.Buffer
	if err := Canonical(bytes.NewReader(in), &once); err != nil {
		t.Fatal(err)
	}
	if once.String() != string(want) {
		t.Errorf("canonical form\n%s\nwant\n%s", once.String(), want)
	}
	if err := Canonical(bytes.NewReader(once.Bytes()), &twice); err != nil || twice.String() != once.String() {
		t.Errorf("the canonical form of a canonical form differs: %v\n%s", err, twice.String())
	}
}

func TestDiff(t *testing.T) {
	const a = `{"type":"start","step":0,"wall_s":1}` + "\n" + `{"type":"pause","step":3}` + "\n" + `{"type":"done","step":9,"obs":{"x":1}}` + "\n"
	const b = `{"type":"start","step":0}` + "\n" + `{"type":"done","step":9}` + "\n"
	for _, c := range []struct {
		a, b, da, db string
		line         int
	}{
		{a, b, "", "", 0},
		{a, strings.Replace(b, "9", "8", 1), `{"type":"done","step":9}`, `{"type":"done","step":8}`, 2},
		{a, `{"type":"start","step":0}`, `{"type":"done","step":9}`, "", 2},
		{"", a, "", `{"type":"start","step":0}`, 1},
	} {
		line, da, db, same, err := Diff(strings.NewReader(c.a), strings.NewReader(c.b))
		if line != c.line || da != c.da || db != c.db || same != (c.line == 0) || err != nil {
			t.Errorf("%q and %q: %d, %q, %q, %v, %v", c.a, c.b, line, da, db, same, err)
		}
	}
	if _, _, _, _, err := Diff(strings.NewReader(a), strings.NewReader("x\n"+a)); err == nil || !strings.HasPrefix(err.Error(), "journal B: journal line 1: ") {
		t.Errorf("a broken journal: %v", err)
	}
}

func TestLatest(t *testing.T) {
	root := t.TempDir()
	if _, err := Latest(root); err == nil {
		t.Error("a run in an empty folder")
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{"b": 2 * time.Hour, "a": time.Hour, "c": 3 * time.Hour} {
		f, err := Create(filepath.Join(root, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := os.Chtimes(f.Path(JournalName), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if dir, err := Latest(root); err != nil || dir != filepath.Join(root, "a") {
		t.Errorf("%s, %v", dir, err)
	}
}

// Whatever a file contains, reading it ends without a panic, and a journal with a canonical form is
// equal to that form.
func FuzzReader(f *testing.F) {
	golden, err := os.ReadFile("testdata/journal.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	for _, text := range []string{"", "{}", "{\n", `{"type":"a","step":1,"obs":{},"x":[{"obs":{"a":1},"b":[]}]}`, `{"type":"a","step":1e3}`,
		"{\"type\":\"a\",\"step\":1,\"a\\u0000\":\"\\ud800\"}\n{\"type\""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, journal []byte) {
		var out bytes.Buffer
		if err := Canonical(bytes.NewReader(journal), &out); err != nil {
			return
		}
		line, a, b, same, err := Diff(bytes.NewReader(journal), bytes.NewReader(out.Bytes()))
		if err != nil || !same {
			t.Fatalf("%q has the canonical form %q, which differs in line %d: %q, %q, %v", journal, out.Bytes(), line, a, b, err)
		}
	})
}
