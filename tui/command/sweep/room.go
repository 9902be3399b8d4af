package sweep

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"sync"
	"time"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
)

// processMemory is what a process is assumed to use on a GPU in addition to its programs: the
// driver's context and the kernels.
const processMemory = 512 << 20

// room is how many runs fit on the GPUs of a sweep, judging by what earlier runs used.
type room struct {
	grid   *sweep.Grid
	free   []uint64 // of each GPU at the start of the sweep, bytes
	now    func() time.Time
	mu     sync.Mutex
	looked time.Time
	read   map[int]int64 // of the jobs' journals, bytes
	done   map[int]bool  // the jobs whose whole journal was read
	most   uint64        // the most that a run has used, bytes; 0: not known yet
}

func newRoom(g *sweep.Grid, free []uint64, now func() time.Time) *room {
	return &room{grid: g, free: free, now: now, read: map[int]int64{}, done: map[int]bool{}}
}

// runs is how many runs may be going at the same time: one on each GPU until a run has evaluated,
// which shows its memory; then as many on each GPU as fit on the smallest, with a tenth to spare. All
// workers that wait ask each second; the journals are looked at once in a second.
func (r *room) runs() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); now.Sub(r.looked) >= time.Second {
		r.looked = now
		for _, j := range r.grid.Jobs {
			if !r.done[j.Index] {
				_, done := r.grid.Result(j) // of a journal that is whole
				r.look(j)
				r.done[j.Index] = done
			}
		}
	}
	if r.most == 0 {
		return len(r.free)
	}
	least := uint64(math.MaxUint64)
	for _, f := range r.free {
		least = min(least, f)
	}
	return len(r.free) * max(1, int((least-least/10)/(r.most+processMemory)))
}

// look reads the new lines in the journal of a job.
func (r *room) look(j sweep.Job) {
	f, err := run.OpenFile(r.grid.Run(j), run.JournalName)
	if err != nil {
		return // not begun yet
	}
	defer f.Close()
	if _, err := f.Seek(r.read[j.Index], io.SeekStart); err != nil {
		return
	}
	text, _ := io.ReadAll(f)
	whole := bytes.LastIndexByte(text, '\n') + 1
	r.read[j.Index] += int64(whole)
	for line := range bytes.Lines(text[:whole]) {
		var perf struct {
			DeviceBytes uint64 `json:"device_bytes"`
		}
		if bytes.Contains(line, []byte(`"device_bytes"`)) && json.Unmarshal(line, &perf) == nil {
			r.most = max(r.most, perf.DeviceBytes)
		}
	}
}
