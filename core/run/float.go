package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Float is a number of a journal line. It is a float64 in JSON, except that values which
// JSON does not have are the strings "NaN", "Inf" and "-Inf".
type Float float64

// MarshalJSON writes f with as many digits as are needed to read it back exactly.
func (f Float) MarshalJSON() ([]byte, error) {
	switch v := float64(f); {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Inf"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Inf"`), nil
	default:
		return json.Marshal(v)
	}
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Float) UnmarshalJSON(b []byte) error {
	switch string(bytes.TrimSpace(b)) {
	case `"NaN"`:
		*f = Float(math.NaN())
	case `"Inf"`:
		*f = Float(math.Inf(1))
	case `"-Inf"`:
		*f = Float(math.Inf(-1))
	default:
		var v float64
		if err := json.Unmarshal(b, &v); err != nil {
			return fmt.Errorf("read number %.20q: %w", b, err)
		}
		*f = Float(v)
	}
	return nil
}

// Floats converts a slice.
func Floats(x []float64) []Float {
	y := make([]Float, len(x))
	for i, v := range x {
		y[i] = Float(v)
	}
	return y
}
