package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// load opens an archive of testdata; testdata/make.py says how it was made.
func load(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(text []byte, name string) (Array, []float32, error) {
	a, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return Array{}, nil, err
	}
	h, err := a.Array(name)
	if err != nil {
		return h, nil, err
	}
	v := make([]float32, h.Len())
	return h, v, h.Floats(v)
}

// Every number is the one that NumPy reads, in its place.
func TestNumbersAreThoseOfNumPy(t *testing.T) {
	var want map[string][3]json.RawMessage
	if err := json.Unmarshal(load(t, "sums.json"), &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != 28 {
		t.Errorf("%d arrays", len(want))
	}
	for key, expect := range want {
		var shape []uint64
		var sum, weighted float64
		if err := json.Unmarshal(slices.Concat([]byte("["), expect[0], []byte(","), expect[1], []byte(","), expect[2], []byte("]")), &[]any{&shape, &sum, &weighted}); err != nil {
			t.Fatal(err)
		}
		file, name, _ := strings.Cut(key, ":")
		h, got, err := read(load(t, file), name)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if !slices.Equal(h.Shape, shape) {
			t.Errorf("%s: shape %v, want %v", key, h.Shape, shape)
		}
		s, w := 0.0, 0.0
		for i, v := range got {
			s += float64(v)
			w += float64(v) * float64(i+1)
		}
		if near := 1e-12 * (1 + math.Abs(weighted)); math.Abs(s-sum) > near || math.Abs(w-weighted) > near {
			t.Errorf("%s: sums %v and %v, NumPy's are %v and %v", key, s, w, sum, weighted)
		}
	}
}

func TestWhatIsRefusedSaysWhy(t *testing.T) {
	text := load(t, "packed.npz")
	for name, want := range map[string]string{
		"objects": "Python objects",
		"text":    "not numbers",
		"records": "records",
		"complex": "not numbers",
		"long":    "cut off",
		"absent":  "no array",
	} {
		if _, _, err := read(text, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a word on %q", name, err, want)
		}
	}
	if _, err := Open(bytes.NewReader(text[:len(text)-30]), int64(len(text)-30)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("an archive that is cut off: %v", err)
	}
}

// archive writes an array whose header is text.
func archive(t testing.TB, header string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	head := append([]byte(magic+"\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
	if _, err := w.Write(slices.Concat(head, []byte(header), data)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What a header claims is not believed.
func TestHeaders(t *testing.T) {
	good := "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
	if _, v, err := read(archive(t, good, make([]byte, 8)), "x"); err != nil || len(v) != 2 {
		t.Fatal(v, err)
	}
	for header, want := range map[string]string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615,), }":   "of shape",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }":  "of shape",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}": "of shape",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }":             "an array of 4000000000 bytes in",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }":                     "of shape",
		"{'descr': '<f4', 'fortran_order': 1, 'shape': (2,), }":                          "order",
		"{'descr': '<f4', 'shape': (2,), }":                                              "lacks",
		"{'descr': '<f3', 'fortran_order': False, 'shape': (2,), }":                      "type",
		"{'descr': 'f', 'fortran_order': False, 'shape': (2,), }":                        "type",
		"{'descr': '<f4', 'fortran_order': False, 'shape': 2}":                           "tuple",
		"{'descr: ":              "dictionary",
		"__import__('os')":       "dictionary",
		"{'shape': (2,), 'x': 1": "with",
		"":                       "dictionary",
	} {
		if _, _, err := read(archive(t, header, make([]byte, 8)), "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a word on %q", header, err, want)
		}
	}
	if _, _, err := read(archive(t, good, make([]byte, 9)), "x"); err == nil {
		t.Error("an array that goes on after its end is taken")
	}
	broken := archive(t, good, []byte("abcdefgh"))
	broken[bytes.Index(broken, []byte("abcdefgh"))] ^= 1
	if _, _, err := read(broken, "x"); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a wrong byte: %v", err)
	}
}

// FuzzRead reads archives that were changed in any way.
func FuzzRead(f *testing.F) {
	f.Add(load(f, "arrays.npz"))
	f.Add(load(f, "packed.npz"))
	f.Add(archive(f, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n", make([]byte, 8)))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Open(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		for name := range a.Names() {
			h, err := a.Array(name)
			if err != nil || h.Len() > 1<<16 {
				continue
			}
			if err := h.Floats(make([]float32, h.Len())); err != nil && strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("an error of several lines: %q", err)
			}
		}
	})
}

// FuzzHeader reads headers of any text.
func FuzzHeader(f *testing.F) {
	f.Add("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n")
	f.Add("{'descr': '|b1', 'fortran_order': True, 'shape': (), }")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHeader(text)
		if err != nil {
			return
		}
		if h.Len() > maxElements || h.Of.Validate() != nil {
			t.Errorf("%q: %v", text, fmt.Sprint(h))
		}
	})
}
