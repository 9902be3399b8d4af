package golden

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// A file without numbers that a test needs is refused, whatever else is in it.
func TestMissing(t *testing.T) {
	type sizes struct{ Rows int }
	type wanted struct {
		sizes
		Loss    float64
		Mean    Array `json:"next_mean"`
		Steps   []struct{ Grad map[string]Array }
		Further *struct{ X float64 } `json:",omitempty"`
	}
	const mean, steps = `"next_mean":{"shape":[],"data":[1]}`, `"steps":[{"grad":{"w":{"shape":[1],"data":[0]}}}]`
	for file, want := range map[string][]string{
		`{"rows":0,"loss":0,` + mean + `,` + steps + `,"other":[]}`:        nil,
		`{"rows":1,"LOSS":2,` + mean + `,` + steps + `,"further":{"x":1}}`: nil,
		`{}`:                                  {"file.Rows", "file.Loss", "file.next_mean", "file.Steps"},
		`{"rows":1,"loss":null,` + mean + `}`: {"file.Loss", "file.Steps"},
		`{"rows":1,"loss":2,` + mean + `,"steps":[]}`:                      {"file.Steps"},
		`{"rows":1,"loss":2,` + mean + `,"steps":[{"grad":{}},{}]}`:        {"file.Steps[0].Grad", "file.Steps[1].Grad"},
		`{"rows":1,"loss":2,` + mean + `,"steps":[{"grad":{"w":null}}]}`:   {"file.Steps[0].Grad.w"},
		`{"rows":1,"loss":2,` + mean + `,` + steps + `,"further":{"y":1}}`: {"file.Further.X"},
		`{"rows":1,"loss":2,"mean":{"shape":[],"data":[1]},` + steps + `}`: {"file.next_mean"},
	} {
		var has any
		if err := json.Unmarshal([]byte(file), &has); err != nil {
			t.Fatal(err)
		}
		if got := missing("file", reflect.TypeFor[wanted](), has); !slices.Equal(got, want) {
			t.Errorf("%s lacks %q, want %q", file, got, want)
		}
	}
}

// An array has as many numbers as its shape says.
func TestArraysAreWhole(t *testing.T) {
	for text, want := range map[string]int{
		`{"shape":[2,2],"data":[1,"nan",true,"-inf"]}`: 4, `{"shape":[],"data":[1]}`: 1, `{"shape":[3,0],"data":[]}`: 0,
		`{}`: -1, `{"shape":[2]}`: -1, `{"data":[1]}`: -1, `{"shape":[2],"data":[1]}`: -1, `{"shape":[2],"data":[1,null]}`: -1, `{"shape":[],"data":[]}`: -1,
	} {
		var a Array
		err := json.Unmarshal([]byte(text), &a)
		if (err == nil) != (want >= 0) || err == nil && len(a.Data) != want {
			t.Errorf("%s has %d numbers, %v", text, len(a.Data), err)
		}
		if want == 4 && !math.IsNaN(a.Data[1]) {
			t.Errorf("%s is read as %v", text, a.Data)
		}
	}
}

// What a script computes is read from the folder of the recorded files; one that lacks it skips the test.
func TestComputed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PGRLAB_GOLDEN", dir)
	var into struct{ Loss float64 }
	skipped := false
	t.Run("lacking", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Computed(t, "x.json", "x.py", &into)
	})
	if !skipped {
		t.Error("a folder without the file skips nothing")
	}
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(`{"loss":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if Computed(t, "x.json", "x.py", &into); into.Loss != 2 {
		t.Errorf("the loss is read as %v", into.Loss)
	}
}
