package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgrlab/core/sweep"
)

// A GPU gets one run until a run has reported its memory. Then the GPUs get as many runs as the
// smallest of them has room for, at the size of the largest run. An incomplete line is read later.
func TestRoom(t *testing.T) {
	g, err := sweep.Create(filepath.Join(t.TempDir(), "sweep"), []sweep.Job{{Task: "t", Method: "m"}, {Index: 1, Task: "t", Method: "m"}}, [][]byte{nil, nil})
	if err != nil {
		t.Fatal(err)
	}
	says := func(job int, text string) {
		dir := g.Run(g.Jobs[job])
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprint(f, text)
	}
	const gib = 1 << 30
	r := &room{grid: g, free: []uint64{16 * gib, 10 * gib}, read: map[int]int64{}}
	for _, c := range []struct {
		job  int
		text string
		want int
	}{
		{0, `{"type":"start"}` + "\n", 2},
		{0, fmt.Sprintf(`{"type":"perf","device_bytes":%d`, gib), 2},
		{0, "}\n", 2 * 6}, // 9 GiB, 1.5 GiB each
		{1, fmt.Sprintf(`{"type":"perf","device_bytes":%d}`+"\n", 4*gib), 2 * 2},
		{0, fmt.Sprintf(`{"type":"perf","device_bytes":%d}`+"\n", 2*gib), 2 * 2},
		{1, fmt.Sprintf(`{"type":"perf","device_bytes":%d}`+"\n", 40*gib), 2},
	} {
		says(c.job, c.text)
		if got := r.runs(); got != c.want {
			t.Errorf("after %q there is room for %d, want %d", c.text, got, c.want)
		}
	}
}
