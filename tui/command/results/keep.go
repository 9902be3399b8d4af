package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
)

// resultsEnding is the ending of a results file's name.
const resultsEnding = ".csv"

// fingerprint is a hash of the settings, without names and without settings that only affect what
// is known about a run.
func fingerprint(settings map[string]string) string {
	var lines []string
	for key, value := range presets.AsKept(settings) {
		if presets.Distinguishes(key, value) && !slices.Contains([]string{"task", "method", "scale", "preset"}, key) {
			lines = append(lines, key+" = "+value)
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:6])
}

// ResultKey is the key that a run with the configuration will have.
func ResultKey(c config.Config) (report.ResultKey, error) {
	settings, err := presets.Settings(c)
	return report.ResultKey{Task: c.Task, Method: c.Method, Scale: c.Scale, Fingerprint: fingerprint(settings), Seed: c.Seed, Steps: c.Steps}, err
}

// KeepResults adds the runs that are results to a file, and says what became of them.
func KeepResults(path string, runs []*report.Run, w io.Writer) error {
	if !strings.HasSuffix(path, resultsEnding) {
		return cli.Usagef("--results %s: want a name that ends in %s", path, resultsEnding)
	}
	if run.Owns(path) {
		return cli.Usagef("--results %s: that belongs to a run: choose another name", path)
	}
	var kept []*report.Run
	seeds := 0
	for _, r := range runs {
		if err := r.IsResult(); err != nil {
			fmt.Fprintf(w, "not kept: %v\n", err)
			continue
		}
		kept = append(kept, r)
		seeds += len(r.Members)
	}
	added, err := report.AddResults(path, kept)
	if err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if added > 0 {
		fmt.Fprintf(w, "%s: %d new, of %d results here\n", path, added, seeds)
	}
	return nil
}
