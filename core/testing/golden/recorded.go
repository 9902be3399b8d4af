package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Array is an array of a recorded file, row-major: {"shape": […], "data": […]}, where numbers that are
// not finite are the strings nan, inf and -inf.
type Array struct {
	Shape []int
	Data  []float64
}

// UnmarshalJSON reads the form above.
func (a *Array) UnmarshalJSON(b []byte) error {
	var raw struct {
		Shape []int
		Data  []any
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	a.Shape, a.Data = raw.Shape, nil
	for _, v := range raw.Data {
		switch v := v.(type) {
		case float64:
			a.Data = append(a.Data, v)
		case bool:
			if v {
				a.Data = append(a.Data, 1)
			} else {
				a.Data = append(a.Data, 0)
			}
		case string:
			x, is := map[string]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}[v]
			if !is {
				return fmt.Errorf("%q is no number", v)
			}
			a.Data = append(a.Data, x)
		}
	}
	size := 1
	for _, n := range a.Shape {
		size *= n
	}
	if a.Shape == nil || len(a.Data) != size {
		return fmt.Errorf("an array of shape %v has %d numbers", a.Shape, len(a.Data))
	}
	return nil
}

// Float32 returns the numbers as float32.
func (a Array) Float32() (x []float32) {
	for _, v := range a.Data {
		x = append(x, float32(v))
	}
	return x
}

// Ints returns the numbers as integers.
func (a Array) Ints() (x []int) {
	for _, v := range a.Data {
		x = append(x, int(v))
	}
	return x
}

// Recorded reads a file of numbers that another program computed: from the folder in PGRLAB_GOLDEN if
// it is set, else from testdata. The name of a file that another package has too is a path from testdata.
func Recorded(t *testing.T, name string, into any) {
	t.Helper()
	if folder() != recordings {
		name = filepath.Base(name)
	}
	Read(t, filepath.Join(folder(), name), into)
}

const recordings = "testdata"

func folder() string {
	if dir := os.Getenv("PGRLAB_GOLDEN"); dir != "" {
		return dir
	}
	return recordings
}

// Computed reads a file that a script in testdata has computed from recorded ones, beside which it is. A folder in
// PGRLAB_GOLDEN that the script has not seen has no such file: the test is then skipped.
func Computed(t *testing.T, name, script string, into any) {
	t.Helper()
	dir := folder()
	if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) && dir != recordings {
		t.Skipf("%s has no %s: %s %s writes it", dir, name, filepath.Join(recordings, script), dir)
	}
	Recorded(t, name, into)
}

// Close compares numbers with recorded ones. The error of each may be up to share of the largest
// magnitude among them.
func (a Array) Close(t *testing.T, what string, got []float32, share float64) {
	t.Helper()
	if len(got) != len(a.Data) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(a.Data))
		return
	}
	largest := 0.0
	for _, v := range a.Data {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range got {
		if !(math.Abs(float64(v)-a.Data[i]) <= share*largest) {
			t.Errorf("%s[%d] is %v, want %v", what, i, v, a.Data[i])
			return
		}
	}
}
