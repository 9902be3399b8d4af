package cli

import "testing"

// A size is written as people know it from elsewhere: with Slurm's, Docker's and Kubernetes's units.
func TestParseSize(t *testing.T) {
	const gi = 1 << 30
	for text, want := range map[string]int64{
		"5GiB": 5 * gi, "5 gib": 5 * gi, "5G": 5 * gi, "5g": 5 * gi, "5Gi": 5 * gi, "5GB": 5e9, "0.5T": 512 * gi,
		"100M": 100 << 20, "100Mi": 100 << 20, "100MB": 1e8, "2048K": 2 << 20, "2000kB": 2e6, "1048576": 1 << 20, "1048576B": 1 << 20,
	} {
		if n, err := ParseSize(text); err != nil || n != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "G", "5X", "5GG", "-1G", "5", "100K", "nanG", "1e99G"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d", text, n)
		}
	}
}
