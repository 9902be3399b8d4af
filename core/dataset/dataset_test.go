package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// want is what testdata/make.py expects of a file.
type want struct {
	Rows, Width, Ends, Cuts, Episodes int
	Returns, Sum, Weighted            float64
}

// datasets returns the folder of the files, and what is expected of them.
func datasets(t *testing.T) (string, map[string]want) {
	t.Helper()
	folder := os.Getenv("PGRLAB_DATASETS")
	if folder == "" {
		folder = "testdata"
	}
	text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]want
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return folder, all
}

func TestRowsAreThoseOfH5py(t *testing.T) {
	folder, all := datasets(t)
	if len(all) != 7 {
		t.Errorf("%d files are expected", len(all))
	}
	formats := map[string]string{"d4rl": "D4RL", "mina": "Minari", "robo": "robomimic", "synt": "npz"}
	for key, w := range all {
		name, keep := strings.CutSuffix(key, ":keep")
		o := Options{KeepEnds: keep}
		if name == "robomimic.hdf5" {
			o.Done = DoneTerminal
		}
		d, err := Read(filepath.Join(folder, name), o)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if d.Len() != w.Rows || d.width() != w.Width || d.Dropped != (Dropped{Ends: w.Ends, Cuts: w.Cuts}) || len(d.Episodes) != w.Episodes || d.Format != formats[key[:4]] || len(d.SHA256) != 64 {
			t.Errorf("%s: %d rows of %d, dropped %+v, %d episodes, %s; want %+v", key, d.Len(), d.width(), d.Dropped, len(d.Episodes), d.Format, w)
		}
		sum, weighted, returns, near := 0.0, 0.0, 0.0, 1e-9*float64(len(d.Rows))
		for i, v := range d.Rows {
			sum += float64(v)
			weighted += float64(v) * float64(1+i%1009)
		}
		for _, e := range d.Episodes {
			returns += e.Return
		}
		if math.Abs(sum-w.Sum) > near || math.Abs(weighted-w.Weighted) > 1e3*near || math.Abs(returns-w.Returns) > near {
			t.Errorf("%s: sums %v, %v and %v, want %v, %v and %v", key, sum, weighted, returns, w.Sum, w.Weighted, w.Returns)
		}
	}
}

// A Minari dataset says what bounds its actions have; what is said beside it comes first.
func TestActionsAreScaled(t *testing.T) {
	d, err := Read("testdata/minari", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Low) != 2 || d.Low[0] != -2 || d.High[1] != 2 {
		t.Errorf("bounds %v to %v, want -2 to 2", d.Low, d.High)
	}
	if n, most := d.Beyond(); n != 0 || most < 0.5 {
		t.Errorf("%d rows beyond, the largest %v", n, most)
	}
	raw, err := Read("testdata/minari", Options{Low: []float64{-1}, High: []float64{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if n, most := raw.Beyond(); n == 0 || most > 2 || raw.Low != nil {
		t.Errorf("%d rows beyond, the largest %v", n, most)
	}
	for i := range d.Len() {
		for j := range 2 {
			if got, want := d.Row(i)[d.Obs+j], raw.Row(i)[d.Obs+j]/2; math.Abs(float64(got-want)) > 1e-6 {
				t.Fatalf("row %d: action %v, want %v", i, got, want)
			}
		}
	}
	for _, bad := range [][2][]float64{{{1}, {-1}}, {{-1, -1, -1}, {1}}, {{math.NaN()}, {1}}, {nil, {1}}, {{math.Inf(-1)}, {1}}} {
		if _, err := Read("testdata/minari", Options{Low: bad[0], High: bad[1]}); err == nil {
			t.Errorf("bounds %v are taken", bad)
		}
	}
}

// Whatever is not read has one line, which says what to do.
func TestRefusals(t *testing.T) {
	write := func(name string, text []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d4rl, err := os.ReadFile("testdata/d4rl.hdf5")
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(d4rl)
	copy(damaged[len(damaged)/2:], make([]byte, 2000))
	alone := t.TempDir()
	inside, err := os.ReadFile("testdata/minari-dict/data/main_data.hdf5")
	if err == nil {
		err = os.WriteFile(filepath.Join(alone, "main_data.hdf5"), inside, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		o    Options
		want string
	}{
		{"testdata/robomimic.hdf5", Options{}, "say which with --done terminal or --done timeout"},
		{"testdata/robomimic.hdf5", Options{Done: "x"}, "want terminal or timeout"},
		{"testdata/d4rl.hdf5", Options{Limit: 1000}, "cut it into several files"},
		{"testdata/absent.npz", Options{}, "no such file"},
		{t.TempDir(), Options{}, "a folder without data/main_data.hdf5: make an npz of it: pgrlab data-adapter"},
		{alone, Options{}, "metadata.json, which has their order, is not beside the file"},
		{os.DevNull, Options{}, "want an ordinary file"},
		{write("x.parquet", []byte("PAR1....")), Options{}, "a parquet file: make an npz"},
		{write("x.pkl", []byte("\x80\x04....")), Options{}, "run code"},
		{write("x.npy", []byte("\x93NUMPY\x01\x00")), Options{}, "a single array"},
		{write("x.txt", []byte("hello")), Options{}, "neither an npz nor an HDF5 file"},
		{write("empty", nil), Options{}, "neither an npz nor an HDF5 file"},
		{write("x.hdf5", d4rl[:len(d4rl)-100]), Options{}, "cut off"},
		{write("x.hdf5", damaged), Options{}, "damaged"},
		{"hdf5/testdata/latest.hdf5", Options{}, "neither observations, episode_0 nor data/demo_0"},
		{"npy/testdata/arrays.npz", Options{}, `no array "observations"`},
	} {
		_, err := Read(c.path, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v, want a word on %q", c.path, err, c.want)
		}
	}
}

// Rows with numbers that are not finite are dropped, and nothing of them is left.
func TestRowsThatAreNotFiniteAreDropped(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	one := func(r ...float32) part {
		ends := column("terminals", 1, 0, 0, 1)
		return part{name: "x", obs: []array{column("observations", 1, 1, 2, 3, 4)}, act: []array{column("actions", 1, 0.1, 0.2, 0.3)}, rewards: column("rewards", 1, r...), ends: &ends}
	}
	d, err := assemble("", []part{one(1, nan, 2), one(inf, 3, 4)}, Options{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{1, 0.1, 1, 2, 0, 3, 0.3, 2, 4, 1, 2, 0.2, 3, 3, 0, 3, 0.3, 4, 4, 1}; !equal(d.Rows, want) || d.Dropped.NotFinite != 2 {
		t.Errorf("rows %v, dropped %+v", d.Rows, d.Dropped)
	}
}

// column is an array of a file.
func column(name string, width int, values ...float32) array {
	shape := []uint64{uint64(len(values) / width)}
	if width > 1 {
		shape = append(shape, uint64(width))
	}
	return array{name: name, shape: shape, read: func(dst []float32) error { copy(dst, values); return nil }}
}

// In a file of several episodes with one observation more than rows, that one follows the last row: the last row
// of every other episode has no successor of its own.
func TestOneObservationMoreThanRows(t *testing.T) {
	for _, last := range []struct{ end, cut float32 }{{0, 0}, {1, 0}, {0, 1}} {
		ends, cuts := column("terminals", 1, 0, 0, 0, last.end), column("timeouts", 1, 0, 1, 0, last.cut)
		d, err := assemble("", []part{{
			obs: []array{column("observations", 1, 1, 2, 9, 10, 11)}, act: []array{column("actions", 1, 0, 0, 0, 0)},
			rewards: column("rewards", 1, 0, 0, 0, 0), ends: &ends, cuts: &cuts,
		}}, Options{Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if want := []float32{1, 0, 0, 2, 0, 9, 0, 0, 10, 0, 10, 0, 0, 11, last.end}; !equal(d.Rows, want) || d.Dropped.Cuts != 1 || d.Dropped.Ends != 0 {
			t.Errorf("%+v: rows %v, dropped %+v", last, d.Rows, d.Dropped)
		}
	}
}

// Single numbers are no rows, and an archive that claims more bytes than its file has is damaged.
func TestSingleNumbersAreNoRows(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"observations", "actions", "rewards", "terminals", "timeouts"} {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		head := "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n"
		fmt.Fprintf(w, "\x93NUMPY\x01\x00%c\x00%s\x00\x00\x00\x00", len(head), head)
	}
	z.Close()
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, Options{}); err == nil || !strings.Contains(err.Error(), "single number") {
		t.Errorf("%v", err)
	}
}

func equal(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// FuzzMetadata reads metadata of any text.
func FuzzMetadata(f *testing.F) {
	for _, name := range []string{"minari", "minari-dict"} {
		text, err := os.ReadFile(filepath.Join("testdata", name, "data", "metadata.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseMetadata(text)
		if err != nil {
			return
		}
		if low, high := m.actions.bounds(); (low == nil) != (high == nil) {
			t.Errorf("bounds %v and %v", low, high)
		}
	})
}

// FuzzDataset reads files of any content: no error but in one line, and no row but of finite
// numbers.
func FuzzDataset(f *testing.F) {
	for _, name := range []string{"d4rl.hdf5", "d4rl-next.hdf5", "synther.npz"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Read(path, Options{Done: DoneTimeout, Limit: 1 << 20})
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		if 4*len(d.Rows) > 1<<20 {
			t.Errorf("%d rows beyond the limit", d.Len())
		}
		for i := range d.Len() {
			if !finite(d.Row(i)) {
				t.Errorf("row %d: %v", i, d.Row(i))
			}
		}
	})
}
