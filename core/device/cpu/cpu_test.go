package cpu

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/testing/racing"
)

// Every segment must see what all shares of the previous one wrote, whichever worker did them and
// however long that took. Runs with all parts and runs with one part alternate.
func TestSegmentsAreBarriers(t *testing.T) {
	for workers, runs := range map[int]int{2: 60, 3: 20, 5: 5, 8: 5} { // large numbers of workers wait long for cores that do not exist
		p := newPool(workers, 0)
		const segments = 40
		most := p.mostParts()
		shares := Lanes // those of the present run
		var done [segments][]atomic.Int64
		var early atomic.Int64
		want := make([]int64, Lanes*most)
		j := &job{}
		for s := range segments {
			done[s] = make([]atomic.Int64, Lanes*most)
			j.segments = append(j.segments, []stage{{run: func(x share) {
				for l := range shares {
					if s > 0 && done[s-1][l].Load() != want[l] {
						early.Add(1)
					}
				}
				for range rand.IntN(50) { // shares of uneven length
					runtime.Gosched()
				}
				done[s][x.place()].Add(1)
			}}})
		}
		for run := range racing.Few(runs, 5) {
			parts := 1
			if run%3 > 0 {
				parts = most
			}
			shares = Lanes * parts
			for l := range shares {
				want[l]++
			}
			p.run(j, parts)
			for s := range done {
				for l := range want {
					if got := done[s][l].Load(); got != want[l] {
						t.Fatalf("%d workers: after run %d share %d of segment %d ran %d times, want %d", workers, run, l, s, got, want[l])
					}
				}
			}
		}
		if n := early.Load(); n > 0 {
			t.Errorf("%d workers: %d shares began before the segment before them had ended", workers, n)
		}
		p.close()
	}
}

// Jobs of different lengths alternate, from several goroutines: a late helper of one job must not
// take a lane of another.
func TestJobsOfManyCallers(t *testing.T) {
	p := newPool(6, 0)
	defer p.close()
	var callers sync.WaitGroup
	for c := range 3 {
		callers.Go(func() {
			var count [Lanes]atomic.Int64 // over all parts
			j := &job{}
			for range 1 + 3*c {
				j.segments = append(j.segments, []stage{{run: func(s share) { count[s.lane].Add(int64(6 / Lanes / s.parts)) }}})
			}
			for run := range 2000 {
				p.run(j, 1+run%2*(6/Lanes-1))
			}
			for lane := range count {
				if n, want := count[lane].Load(), int64(2000*len(j.segments)*6/Lanes); n != want {
					t.Errorf("caller %d: lane %d ran %d times, want %d", c, lane, n, want)
				}
			}
		})
	}
	callers.Wait()
}

// TestSharedWork checks that every part of shared work is done exactly once in a run.
func TestSharedWork(t *testing.T) {
	for _, threads := range []int{1, 2, 4, 5} {
		d, err := New(Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		const rows = 70
		var count [rows]int
		run := d.Share(func(part, parts int) {
			for row := rows * part / parts; row < rows*(part+1)/parts; row++ {
				count[row]++
			}
		})
		const runs = 500
		if n := testing.AllocsPerRun(runs-1, run); n > 0 {
			t.Errorf("%d threads: a run allocates %v times", threads, n)
		}
		for row, n := range count {
			if n != runs {
				t.Errorf("%d threads: row %d was done %d times in %d runs", threads, row, n, runs)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestHelpersSleepAndWake(t *testing.T) {
	p := newPool(2, 0)
	defer p.close()
	ran := 0
	j := &job{segments: [][]stage{{{run: func(s share) {
		if s.lane == 0 {
			ran++
		}
	}}}}}
	for range 20 {
		for !p.helpers[0].asleep.Load() {
			runtime.Gosched()
		}
		p.run(j, 1)
	}
	if ran != 20 {
		t.Errorf("the job ran %d times, want 20", ran)
	}
}

// A barrier is placed where lanes would meet, and only there.
func TestBarriersStandWhereLanesMeet(t *testing.T) {
	rows, elements := split{by: byRows, n: 8}, split{by: byElements, n: 8}
	type use struct {
		buf   int
		split split
		write bool
	}
	cases := []struct {
		name     string
		stages   [][]use
		segments int
	}{
		{"rows after rows", [][]use{{{1, rows, true}}, {{1, rows, false}, {2, rows, true}}}, 1},
		{"whole after rows", [][]use{{{1, rows, true}}, {{1, split{by: whole}, false}}}, 2},
		{"rows after elements", [][]use{{{1, elements, true}}, {{1, rows, false}}}, 2},
		{"other rows", [][]use{{{1, rows, true}}, {{1, split{by: byRows, n: 9}, false}}}, 2},
		{"overwriting what others read", [][]use{{{1, split{by: whole}, false}}, {{1, elements, true}}}, 2},
		{"reading twice", [][]use{{{1, split{by: whole}, false}}, {{1, rows, false}}}, 1},
		{"lanes' own, then all of them", [][]use{{{1, split{by: byLane}, true}}, {{1, split{by: byLane}, true}}, {{1, elements, true}}}, 2},
		{"unrelated", [][]use{{{1, rows, true}}, {{2, split{by: whole}, false}}}, 1},
	}
	for _, c := range cases {
		s := newScheduler()
		for _, uses := range c.stages {
			var st stage
			for _, u := range uses {
				st.uses = append(st.uses, access(u))
			}
			s.add(st)
		}
		if len(s.segments) != c.segments {
			t.Errorf("%s: %d segments, want %d", c.name, len(s.segments), c.segments)
		}
	}
}

// A postponed sum needs no barrier of its own unless it is read.
func TestPostponedStagesWaitForABarrier(t *testing.T) {
	lane, first := split{by: byLane}, split{by: byFirst}
	partial := stage{name: "partial", uses: []access{{1, lane, true}}}
	sum := stage{name: "sum", uses: []access{{1, first, false}, {2, first, true}}}
	other := stage{name: "other", uses: []access{{3, split{by: byRows, n: 4}, true}}}
	meets := stage{name: "meets", uses: []access{{3, split{by: whole}, false}}}

	s := newScheduler()
	s.add(partial)
	s.postpone(sum)
	s.add(other)
	s.add(meets)
	s.flush()
	if len(s.segments) != 2 || s.segments[1][0].name != "sum" {
		t.Errorf("the sum is not after the barrier that was needed anyway: %d segments", len(s.segments))
	}
	s = newScheduler()
	s.add(partial)
	s.postpone(sum)
	s.add(stage{name: "reader", uses: []access{{2, split{by: whole}, false}}})
	if len(s.segments) != 3 {
		t.Errorf("a reader of the sum stands in segment %d, want the third", len(s.segments))
	}
}

func TestElementRangesCoverEverythingOnce(t *testing.T) {
	for n := range 100 {
		next := 0
		for lane := range Lanes {
			lo, hi := elementRange(n, lane)
			if lo != next || hi < lo {
				t.Errorf("%d elements: lane %d has %d to %d after %d", n, lane, lo, hi, next)
			}
			next = hi
		}
		if next != n {
			t.Errorf("%d elements: the lanes end at %d", n, next)
		}
	}
}

func TestQuotaOfTheControlGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.max")
	for content, want := range map[string]int{"max 100000\n": 0, "200000 100000\n": 2, "50000 100000\n": 1, "nonsense": 0, "": 0} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := cgroupCPUs(file); got != want || ok != (want > 0) {
			t.Errorf("%q gives %d CPUs, %v; want %d", content, got, ok, want)
		}
	}
}

// Other threads of Go, which the program allows later, are not for workers.
func TestAllowedIsNoMoreThanGoTookAtFirst(t *testing.T) {
	defer func(n int) { allotted = n }(allotted)
	if allotted = 1; Allowed() != 1 {
		t.Errorf("%d CPUs are allowed where Go took 1", Allowed())
	}
}

func TestBadProgramsAreErrors(t *testing.T) {
	dev, err := New(Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for name, p := range map[string]*device.Program{
		"unknown instruction": {Buffers: []device.Buffer{{Members: 1, Rows: 1, Cols: 1}}, Instrs: []device.Instr{{Code: device.Codes}}},
		"short memory":        {Buffers: []device.Buffer{{Members: 1, Rows: 2, Cols: 2, Host: make([]float32, 3)}}},
	} {
		if _, err := dev.Compile(p); err == nil {
			t.Errorf("%s was compiled", name)
		}
	}
	if _, err := New(Options{Threads: MaxThreads + 1}); err == nil {
		t.Error("too many threads were accepted")
	}
	if _, err := New(Options{Family: "no such family"}); err == nil {
		t.Error("an unknown family was accepted")
	}
}
