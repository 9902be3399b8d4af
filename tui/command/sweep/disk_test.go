package sweep

import "testing"

// A sweep whose runs will not fit on the disk says so in a line.
func TestSweepsThatDoNotFitOnTheDisk(t *testing.T) {
	const gib = 1 << 30
	for free, want := range map[int64]string{0: "", 80 * gib: "", 79 * gib: "on the disk: about 4.0 GiB for each of 20 runs, 80.0 GiB in all: only 79.0 GiB are free"} {
		if got := diskText(4*gib, 20, free); got != want {
			t.Errorf("%d bytes are free: %q, want %q", free, got, want)
		}
	}
}
