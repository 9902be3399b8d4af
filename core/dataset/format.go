package dataset

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"pgrlab/core/dataset/element"
	"pgrlab/core/dataset/hdf5"
	"pgrlab/core/dataset/npy"
)

// dispatch reads a file by what it begins with.
func dispatch(file *os.File, size int64, path string, o Options) (*Dataset, error) {
	head := make([]byte, 8)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, plain(err)
	}
	head = head[:n]
	for _, other := range []struct{ magic, what string }{
		{"\x93NUMPY", "a single array: want an npz of several"},
		{"PAR1", "a parquet file"},
		{"ARROW1", "an arrow file"},
		{"\x80", "a pickle, and reading it would run code"},
		{"\x1f\x8b", "a gzip archive: unpack it first"},
	} {
		if strings.HasPrefix(string(head), other.magic) {
			return nil, refuse("%s", other.what)
		}
	}
	if strings.HasPrefix(string(head), "PK") {
		a, err := npy.Open(file, size)
		if err != nil {
			return nil, err
		}
		d, err := readFlat(archive{a}, o)
		if d != nil {
			d.Format = "npz"
		}
		return d, wayOut(err)
	}
	f, err := hdf5.Open(file, size)
	if errors.Is(err, hdf5.ErrFormat) {
		return nil, refuse("neither an npz nor an HDF5 file")
	}
	if err != nil {
		return nil, err
	}
	d, err := readHDF5(f, path, o)
	return d, wayOut(err)
}

// wayOut adds to an error of what is valid and not read, what to do about it.
func wayOut(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, hdf5.Newest):
		return &Refused{err.Error(), "h5repack -l CONTI IN OUT writes it so that it can be read, or " + WayOut}
	}
	var h hdf5.Refusal
	var n npy.Refusal
	if errors.As(err, &h) || errors.As(err, &n) {
		return refuse("%v", err)
	}
	return err
}

// readHDF5 reads a file by what is in its root.
func readHDF5(f *hdf5.File, path string, o Options) (*Dataset, error) {
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	members, err := root.Members()
	if err != nil {
		return nil, err
	}
	switch {
	case members["observations"] != nil:
		d, err := readFlat(group(members), o)
		if d != nil {
			d.Format = "D4RL"
		}
		return d, err
	case numbered(members, "episode_") != nil:
		return readMinari(members, path, o)
	case members["data"] != nil:
		data, err := members["data"].Open()
		if err != nil {
			return nil, err
		}
		inner, err := data.Members()
		if err != nil {
			return nil, err
		}
		if numbered(inner, "demo_") != nil {
			return readRobomimic(inner, o)
		}
	}
	return nil, refuse("an HDF5 file with neither observations, episode_0 nor data/demo_0")
}

// array is one of a file, whose numbers were not read yet.
type array struct {
	name  string
	of    element.Type
	shape []uint64
	read  func(dst []float32) error
}

// rows is the size of the first dimension, width that of the others together.
func (a array) rows() uint64 {
	if len(a.shape) == 0 {
		return 0
	}
	return a.shape[0]
}

func (a array) width() uint64 {
	w := uint64(1)
	if len(a.shape) > 0 {
		for _, n := range a.shape[1:] {
			w *= n
		}
	}
	return w
}

// arrays are those of a file, or of an episode.
type arrays interface {
	has(name string) bool
	array(name string) (array, error)
}

// first returns the first name that is there, or "".
func first(from arrays, names ...string) string {
	if i := slices.IndexFunc(names, from.has); i >= 0 {
		return names[i]
	}
	return ""
}

// archive are the arrays of an npz.
type archive struct{ *npy.Archive }

func (a archive) has(name string) bool { return a.Names()[name] }

func (a archive) array(name string) (array, error) {
	got, err := a.Array(name)
	if err != nil {
		return array{}, named(name, err)
	}
	return array{name, got.Of, got.Shape, func(dst []float32) error { return named(name, got.Floats(dst)) }}, nil
}

// group are the arrays of a group.
type group map[string]*hdf5.Member

func (g group) has(name string) bool { return g[name] != nil }

func (g group) array(name string) (array, error) {
	if g[name] == nil {
		return array{}, errors.New(name + ": there is none")
	}
	o, err := g[name].Open()
	if err != nil {
		return array{}, named(name, err)
	}
	return fromObject(name, o)
}

func fromObject(name string, o *hdf5.Object) (array, error) {
	if err := o.Check(); err != nil {
		return array{}, named(name, err)
	}
	of, err := o.Type()
	if err != nil {
		return array{}, named(name, err)
	}
	return array{name, of, o.Shape(), func(dst []float32) error { return named(name, o.Floats(dst)) }}, nil
}

// named is an error of an array with its name.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return &ofArray{name, err}
}

type ofArray struct {
	name string
	err  error
}

func (e *ofArray) Error() string { return e.name + ": " + e.err.Error() }
func (e *ofArray) Unwrap() error { return e.err }
