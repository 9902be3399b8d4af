// Package dataset reads transitions that other programs have recorded: npz files (pgrlab's own
// exports, and SynthER's), and HDF5 files as D4RL, Minari and robomimic write them.
//
// # Rows
//
// A row is [s, a, r, s', d], float32, as everywhere; d is 1 at a true end and 0 where an episode
// was only cut off. A row is made only of a state and its own successor. D4RL's files without
// next_observations have s' in the row that follows, which after the last row of an episode is the
// first state of another one: such rows are dropped, at true ends too, and counted. (D4RL's own
// loader keeps those of true ends: their s' is masked in Q-learning, and wrong for a model of s'.)
// Rows with a number that is not finite are dropped as well.
//
// # Why
//
// Nothing of a file is believed: sizes are checked against the file and against a limit before
// memory is taken. Formats that run code when they are read, or that need a library of their own,
// are left to a Python file that pgrlab prints.
package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"pgrlab/core/printable"
	"pgrlab/core/run"
)

// DefaultLimit is how many bytes the rows may take if nothing else is said.
const DefaultLimit = 4 << 30

// What an episode's `done` can mean, where a file has nothing else about ends.
const (
	DoneTerminal = "terminal" // the episode truly ended
	DoneTimeout  = "timeout"  // it was cut off
)

// Options are how a file is read.
type Options struct {
	// Done says what dones are in files that have neither terminals nor timeouts, such as
	// robomimic's: DoneTerminal or DoneTimeout. "": such files are refused.
	Done string
	// KeepEnds keeps D4RL's rows at true ends without a next observation of their own, with the
	// first state of the next episode as s', as D4RL's own loader does.
	KeepEnds bool
	// Low and High are the bounds of the actions in the file, one pair for all or one for each;
	// what is read is scaled from them to [-1, 1]. nil: those that the file itself gives, if it
	// does.
	Low, High []float64
	// Limit is how many bytes the rows may take; 0: DefaultLimit.
	Limit int64
}

// Dataset is what was read from a file.
type Dataset struct {
	Format   string // npz, D4RL, Minari or robomimic
	SHA256   string // of the file, hexadecimal
	Obs, Act int
	Rows     []float32 // [N, 2 Obs + Act + 2], in the order of the file
	Episodes []Episode // as they are in the file, before rows were dropped
	Dropped  Dropped
	// Low and High are the bounds from which actions were scaled; nil: they were not.
	Low, High []float64
}

// Episode is an episode of a file.
type Episode struct {
	Length int     // rows
	Return float64 // sum of the rewards
	Ended  bool    // truly
}

// Dropped are the rows of a file that are not in Rows.
type Dropped struct {
	Ends      int // true ends without a next observation
	Cuts      int // ends of time, and of the file, without a next observation
	NotFinite int // rows with NaN or an infinity
}

// Total is the number of all of them.
func (d Dropped) Total() int { return d.Ends + d.Cuts + d.NotFinite }

// Len is the number of rows.
func (d *Dataset) Len() int { return len(d.Rows) / d.width() }

// Sizes returns the lengths of an observation and of an action.
func (d *Dataset) Sizes() (obs, act int) { return d.Obs, d.Act }

// Row returns row i, [s, a, r, s', d]; the memory is the Dataset's own.
func (d *Dataset) Row(i int) []float32 {
	w := d.width()
	return d.Rows[i*w : (i+1)*w : (i+1)*w]
}

func (d *Dataset) width() int { return 2*d.Obs + d.Act + 2 }

// WayOut is what to do about a file that is not read.
const WayOut = "make an npz of it: pgrlab data-adapter > pgrlab_data.py, and then python3 pgrlab_data.py to-npz SOURCE OUT.npz"

// Refused is the error of a file, or of a part of it, that is whole and not read.
type Refused struct {
	what   string
	wayOut string
}

func (r *Refused) Error() string { return r.what + ": " + r.wayOut }

func refuse(format string, values ...any) error {
	return &Refused{fmt.Sprintf(format, values...), WayOut}
}

// Read reads a file, or the folder of a Minari dataset. Errors are one line, which names the file.
func Read(path string, o Options) (*Dataset, error) {
	d, err := read(path, o)
	if err != nil {
		return nil, fmt.Errorf("read data: %s: %s", printable.Line(path), printable.Line(err.Error()))
	}
	return d, nil
}

func read(path string, o Options) (*Dataset, error) {
	if o.Done != "" && o.Done != DoneTerminal && o.Done != DoneTimeout {
		return nil, fmt.Errorf("done is %q, want %s or %s", o.Done, DoneTerminal, DoneTimeout)
	}
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	path, err := locate(path)
	if err != nil {
		return nil, err
	}
	file, err := run.OpenNamed(path)
	if err != nil {
		return nil, plain(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, plain(err)
	}
	d, err := dispatch(file, info.Size(), path, o)
	if err != nil {
		return nil, err
	}
	if d.SHA256, err = sum(file); err != nil {
		return nil, err
	}
	if d.Len() == 0 {
		return nil, errors.New("no row of it can be used")
	}
	if err := d.scale(o); err != nil {
		return nil, err
	}
	return d, nil
}

// plain is an error without the path, which comes before it.
func plain(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// locate returns the file with the numbers; Minari's are in a folder.
func locate(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", plain(err)
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, inner := range []string{"data/main_data.hdf5", "main_data.hdf5"} {
		if f := filepath.Join(path, inner); regular(f) {
			return f, nil
		}
	}
	return "", refuse("a folder without data/main_data.hdf5")
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func sum(file *os.File) (string, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", plain(err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", plain(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// scale maps the actions from their bounds to [-1, 1].
func (d *Dataset) scale(o Options) error {
	low, high := o.Low, o.High
	if low == nil && high == nil {
		if low, high = d.Low, d.High; low == nil {
			return nil
		}
	}
	low, err := spread(low, d.Act, "low")
	if err != nil {
		return err
	}
	high, err = spread(high, d.Act, "high")
	if err != nil {
		return err
	}
	unit := true
	for j := range low {
		if !(low[j] < high[j]) || math.IsInf(high[j]-low[j], 0) {
			return fmt.Errorf("bounds of action %d from %g to %g: want a lower one and a higher one", j, low[j], high[j])
		}
		unit = unit && low[j] == -1 && high[j] == 1
	}
	if d.Low, d.High = low, high; unit {
		d.Low, d.High = nil, nil
		return nil
	}
	for i := range d.Len() {
		act := d.Row(i)[d.Obs : d.Obs+d.Act]
		for j, a := range act {
			act[j] = float32(2*(float64(a)-low[j])/(high[j]-low[j]) - 1)
		}
	}
	return nil
}

func spread(bounds []float64, n int, which string) ([]float64, error) {
	switch len(bounds) {
	case n:
		return bounds, nil
	case 1:
		all := make([]float64, n)
		for i := range all {
			all[i] = bounds[0]
		}
		return all, nil
	}
	return nil, fmt.Errorf("%d %s bounds for %d actions: want one, or one for each", len(bounds), which, n)
}

// Tolerance is how far beyond [-1, 1] an action may be by rounding.
const Tolerance = 1e-5

// Beyond counts the rows with actions beyond [-1, 1], and returns the largest magnitude of all
// actions.
func (d *Dataset) Beyond() (rows int, largest float32) {
	for i := range d.Len() {
		most := float32(0)
		for _, a := range d.Row(i)[d.Obs : d.Obs+d.Act] {
			most = max(most, a, -a)
		}
		if most > 1+Tolerance {
			rows++
		}
		largest = max(largest, most)
	}
	return rows, largest
}
