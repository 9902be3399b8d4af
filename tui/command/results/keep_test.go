package results

import (
	"path/filepath"
	"slices"
	"testing"

	"pgrlab/core/report"
	"pgrlab/presets"
)

// Runs of today have the fingerprints of results that are kept, and so are pooled with them.
func TestFingerprintsOfKeptResults(t *testing.T) {
	for _, c := range []struct {
		task, method, want string
		file               string // in docs/evidence; "": no result is there
	}{
		{"cheetah-run", "pgr-curiosity", "7becc24805ca", ""},
		{"cheetah-run", "synther", "20f7e9759365", "study-bounded.csv"},
		{"cheetah-run", "sac", "dd2ce0f2e14a", "study-controls.csv"},
		{"cheetah-run", "resample", "0092ab5510e3", "study-controls.csv"},
		{"maze-sparse", "ppo-eco", "2d6da3657500", "mazes.csv"},
	} {
		key, err := ResultKey(resolve(t, presets.Choice{Task: c.task, Method: c.method, Scale: "short"}))
		if err != nil || key.Fingerprint != c.want {
			t.Errorf("%s on %s has the fingerprint %s, %v, want %s", c.method, c.task, key.Fingerprint, err, c.want)
		}
		if c.file == "" {
			continue
		}
		kept, err := report.ReadResults(filepath.Join("../../../docs/evidence", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(kept, func(r *report.Run) bool { return r.Method == c.method && r.Fingerprint == c.want }) {
			t.Errorf("%s has no result of %s with that fingerprint", c.file, c.method)
		}
	}
}
