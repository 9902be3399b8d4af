package hdf5

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// open opens a file of testdata; testdata/make.py says how it was made.
func open(t testing.TB, name string) *File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// at returns an object of a file by its path.
func at(t testing.TB, f *File, path string) *Object {
	t.Helper()
	o, err := f.Root()
	for name := range strings.SplitSeq(path, "/") {
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var members map[string]*Member
		if members, err = o.Members(); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if members[name] == nil {
			t.Fatalf("%s: no %s", path, name)
		}
		o, err = members[name].Open()
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return o
}

func numbers(o *Object) ([]float32, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	v := make([]float32, o.Len())
	return v, o.Floats(v)
}

// Every number is the one that h5py reads, in its place.
func TestNumbersAreThoseOfH5py(t *testing.T) {
	text, err := os.ReadFile("testdata/sums.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string][3]json.RawMessage
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	arrays := 0
	for name, paths := range want {
		f := open(t, name)
		for path, expect := range paths {
			o := at(t, f, path)
			var shape []uint64
			var sum, weighted float64
			if err := json.Unmarshal(slices.Concat([]byte("["), expect[0], []byte(","), expect[1], []byte(","), expect[2], []byte("]")), &[]any{&shape, &sum, &weighted}); err != nil {
				t.Fatal(err)
			}
			got, err := numbers(o)
			if err != nil {
				t.Errorf("%s %s: %v", name, path, err)
				continue
			}
			if !slices.Equal(o.Shape(), shape) {
				t.Errorf("%s %s: shape %v, want %v", name, path, o.Shape(), shape)
			}
			s, w, i := 0.0, 0.0, 0
			for _, v := range got {
				if v := float64(v); !math.IsInf(v, 0) {
					i++
					s += v
					w += v * float64(i)
				}
			}
			if near := 1e-12 * (1 + math.Abs(weighted)); math.Abs(s-sum) > near || math.Abs(w-weighted) > near {
				t.Errorf("%s %s: sums %v and %v, h5py's are %v and %v", name, path, s, w, sum, weighted)
			}
			arrays++
		}
	}
	if arrays < 120 {
		t.Errorf("only %d arrays were compared", arrays)
	}
}

// What cannot be read is said in a line, and harms nothing beside it.
func TestWhatIsRefusedSaysWhy(t *testing.T) {
	f := open(t, "refused.hdf5")
	for path, want := range map[string]string{
		"lzf":       "packed with lzf",
		"text":      "variable length",
		"fixed":     "elements are text",
		"compound":  "elements are compounds",
		"complex":   "elements are compounds",
		"unwritten": "never written",
		"gaps":      "chunk 1 was never written",
		"nothing":   "never written",
		"ofnamed":   "named one",
		"outside":   "other files",
	} {
		if _, err := numbers(at(t, f, path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a word on %q", path, err, want)
		}
	}
	if _, err := numbers(at(t, open(t, "latest.hdf5"), "chunks")); err != Newest {
		t.Errorf("chunks of the newest format: %v", err)
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	if members, err := root.Members(); err != nil || len(members) != 11 {
		t.Errorf("%d members, %v", len(members), err)
	}
}

// A group of 2,000 has an index of several levels.
func TestLargeGroupIsWhole(t *testing.T) {
	root, err := open(t, "ordered.hdf5").Root()
	if err != nil {
		t.Fatal(err)
	}
	members, err := root.Members()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		if members[fmt.Sprintf("episode_%d", i)] == nil {
			t.Errorf("no episode_%d", i)
		}
	}
	if len(members) != 2007 {
		t.Errorf("%d members, want 2007", len(members))
	}
}

// visit reads all of a file that can be read, as far as its arrays are small.
func visit(o *Object, deep int) (arrays int, errs []error) {
	if !o.Group() {
		if o.Len() > 1<<16 {
			return 1, nil
		}
		_, err := numbers(o)
		return 1, []error{err}
	}
	if deep == 0 {
		return 0, nil
	}
	members, err := o.Members()
	errs = append(errs, err)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		child, err := members[name].Open()
		errs = append(errs, err)
		if err == nil {
			n, more := visit(child, deep-1)
			arrays, errs = arrays+n, append(errs, more...)
		}
	}
	return arrays, errs
}

func visitAll(text []byte, unsealed bool) []error {
	f, err := (&File{unsealed: unsealed}).open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return []error{err}
	}
	o, err := f.Root()
	if err != nil {
		return []error{err}
	}
	_, errs := visit(o, 4)
	return errs
}

func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{"types.hdf5", "refused.hdf5", "ordered.hdf5", "old.hdf5", "userblock.hdf5", "latest.hdf5", "v108.hdf5"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	return all
}

// A file that ends early has an error at once, wherever it ends.
func TestFileThatIsCutOff(t *testing.T) {
	for name, text := range seeds(t) {
		for n := 0; n < len(text); n += 1 + len(text)/50 {
			_, err := Open(bytes.NewReader(text[:n]), int64(n))
			if err == nil {
				t.Errorf("%s: %d of %d bytes are taken for a whole file", name, n, len(text))
			}
		}
	}
}

// Wherever a byte is wrong, nothing worse than an error comes of it.
func TestDamagedFileDoesNoHarm(t *testing.T) {
	for name, text := range seeds(t) {
		step := 1 + len(text)/30
		if os.Getenv("PGRLAB_SOAK") != "" {
			step = 1
		}
		for i := 0; i < len(text); i += step {
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				broken := bytes.Clone(text)
				broken[i] ^= flip
				for _, err := range visitAll(broken, true) {
					if err != nil && strings.ContainsRune(err.Error(), '\n') {
						t.Errorf("%s: an error of several lines: %q", name, err)
					}
				}
			}
		}
	}
}

// A checksum of a structure is looked at: a wrong byte in it cannot pass.
func TestChecksumsOfStructures(t *testing.T) {
	text := seeds(t)["latest.hdf5"]
	for _, name := range []string{"OHDR", "FRHP", "BTHD", "BTLF"} {
		at := bytes.LastIndex(text, []byte(name))
		if at < 0 {
			t.Fatalf("no %s", name)
		}
		broken := bytes.Clone(text)
		broken[at+5] ^= 4
		var said []string
		for _, err := range visitAll(broken, false) {
			if err != nil {
				said = append(said, err.Error())
			}
		}
		if !strings.Contains(strings.Join(said, "; "), "checksum") {
			t.Errorf("%s: %q, want a word on its checksum", name, said)
		}
	}
	packed := bytes.Clone(seeds(t)["types.hdf5"])
	f := open(t, "types.hdf5")
	o := at(t, f, "flattened")
	var address uint64
	if err := f.walkTree(o.layout.address, treeOfChunks, 2, func(_ *cursor, child uint64) error { address = child; return nil }); err != nil {
		t.Fatal(err)
	}
	packed[address] ^= 1
	if f, err := Open(bytes.NewReader(packed), int64(len(packed))); err != nil {
		t.Error(err)
	} else if _, err := numbers(at(t, f, "flattened")); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a chunk with a wrong byte: %v", err)
	}
}

// The vectors are of the source of lookup3.c, and of HDF5's own test of fletcher32.
func TestChecksums(t *testing.T) {
	if got := lookup3(nil); got != 0xdeadbeef {
		t.Errorf("of nothing: %#x", got)
	}
	if got := lookup3([]byte("Four score and seven years ago")); got != 0x17770551 {
		t.Errorf("of lookup3.c's example: %#x", got)
	}
}

// FuzzRead reads files that were changed in any way; checksums of structures are not looked at, so
// that changes get past them.
func FuzzRead(f *testing.F) {
	for _, text := range seeds(f) {
		if len(text) < 30000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, err := range visitAll(text, true) {
			if err != nil && strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("an error of several lines: %q", err)
			}
		}
	})
}
