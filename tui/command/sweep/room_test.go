package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgrlab/core/sweep"
)

// A GPU gets one run until a run has reported its memory. Then the GPUs get as many runs as the
// smallest of them has room for, at the size of the largest run. An incomplete line is read later, the
// journal of a job that is done no more. Within a second the answer stays.
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
	now := time.Now()
	r := newRoom(g, []uint64{16 * gib, 10 * gib}, func() time.Time { return now })
	last := len(r.free)
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
		if got := r.runs(); got != last {
			t.Errorf("within a second of %q there is room for %d, before %d", c.text, got, last)
		}
		now = now.Add(time.Second)
		if last = r.runs(); last != c.want {
			t.Errorf("after %q there is room for %d, want %d", c.text, last, c.want)
		}
	}
	ends(t, g, g.Jobs[0])
	var read []int64
	for range 2 {
		says(0, "{}\n")
		now = now.Add(time.Second)
		r.runs()
		read = append(read, r.read[0])
	}
	if read[0] != read[1] {
		t.Errorf("the journal of a job that is done is read up to %v", read)
	}
}
