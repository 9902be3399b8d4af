package run

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"pgrlab/core/run/files"
)

// Data shared by checkpoints is written once. A log that cannot be written to is left where it is:
// the next capture continues in a new file, and no row is lost.
func TestWriterSharesAndGoesOnAfterALostLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	folder, err := Create(dir, []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	w, made := NewWriter(folder, 1), 0
	w.Keep(1 << 30)
	w.Start()
	defer w.Close()
	total, kept := uint64(0), uint64(0)
	write := func(step int, of string) Written {
		t.Helper()
		total++
		c := &Capture{
			Logs: []LogRows{{Name: "0/real", File: "real-0", New: (*Folder).NewLog, Rows: []byte(strings.Repeat("row ", int(total-kept))), Total: total}},
			Shared: []Shared{{Slot: "0/synthetic", Of: of, Name: "0/synthetic", File: "synthetic", Write: func(w io.Writer) error {
				made++
				_, err := io.WriteString(w, of)
				return err
			}}},
		}
		c.Step, c.Journal = step, folder.Mark()
		w.Submit(c)
		r := <-w.Results()
		kept = r.Totals[0]
		return r
	}
	if r := write(1, "first"); r.Err != nil || kept != 1 {
		t.Fatal(r.Err, kept)
	}
	if r := write(2, "first"); r.Err != nil || made != 1 || kept != 2 {
		t.Fatal(r.Err, made, kept)
	}
	w.logs[0].Close()
	if r := write(3, "second"); r.Err == nil || !strings.HasSuffix(r.Err.Error(), "file already closed") || kept != 2 {
		t.Fatal(r.Err, kept)
	}
	r := write(4, "second")
	if r.Err != nil || made != 2 || kept != 4 {
		t.Fatal(r.Err, made, kept)
	}
	if _, err := os.Stat(r.Path); err != nil {
		t.Error(err)
	}
	for _, d := range r.Data {
		from, err := d.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		from.Close()
		want := map[string]string{"0/real": "row row row row ", "0/synthetic": "second"}[d.Name]
		if err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v, want %q", d.Name, text, err, want)
		}
	}
}

// A writer that is closed has written what was submitted.
func TestAClosedWriterHasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	folder, err := Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	w, written := NewWriter(folder, 0), false
	w.Keep(1 << 30)
	w.Start()
	c := &Capture{Shared: []Shared{{Slot: "0/synthetic", Of: "rows", Name: "0/synthetic", File: "synthetic", Write: func(io.Writer) error {
		written = true
		return nil
	}}}}
	c.Step, c.Journal = 1, folder.Mark()
	w.Submit(c)
	w.Close()
	found, err := Checkpoints(dir)
	if !written || len(found) != 1 {
		t.Errorf("%d checkpoints, %v", len(found), err)
	}
	if r := <-w.Results(); r.Err != nil {
		t.Error(r.Err)
	}
}

// Rows that are handed over ahead of a capture stand before its own. If they cannot be written the
// capture fails for that reason, and says which rows are there, so that the next one has the others.
func TestWriterTakesRowsAhead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	folder, err := Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	w := NewWriter(folder, 1)
	w.Keep(1 << 30)
	w.Start()
	defer w.Close()
	full := errors.New("no room")
	var refuses atomic.Bool
	make := func(f *Folder, name string) (*Log, error) {
		if refuses.Load() {
			return nil, full
		}
		return f.NewLog(name)
	}
	rows := func(after, total int) []LogRows {
		text := ""
		for i := after; i < total; i++ {
			text += strconv.Itoa(i)
		}
		return []LogRows{{Name: "0/frames", File: "frames-0", New: make, Rows: []byte(text), After: uint64(after), Total: uint64(total)}}
	}
	write := func(step, after, total int) Written {
		c := &Capture{Logs: rows(after, total)}
		c.Step, c.Position, c.Journal = step, strconv.Itoa(step), folder.Mark()
		w.Submit(c)
		return <-w.Results()
	}
	refuses.Store(true)
	w.Extend(rows(0, 2))
	if r := write(1, 2, 3); !errors.Is(r.Err, full) || r.Totals[0] != 0 {
		t.Fatalf("after rows that are missing: %v, %d rows", r.Err, r.Totals[0])
	}
	refuses.Store(false)
	w.Extend(rows(0, 4))
	for !w.Takes() {
		runtime.Gosched()
	}
	w.Extend(rows(4, 6))
	r := write(2, 6, 7)
	if r.Err != nil || r.Totals[0] != 7 {
		t.Fatalf("%v, %d rows", r.Err, r.Totals[0])
	}
	from, err := r.Data[0].Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if text, err := io.ReadAll(from); err != nil || string(text) != "0123456" {
		t.Errorf("the log holds %q, %v", text, err)
	}
}

// A log goes on in a new file where one is long. A checkpoint refers to the files whose rows it needs, and
// those that none of the checkpoints on the disk needs are removed. Files of which is not known which rows
// they have count as those of the last row.
func TestFilesOfALogEnd(t *testing.T) {
	const piece = 100
	folder, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	r, text := rand.New(rand.NewPCG(1, 2)), ""
	type needs struct{ first, total int }
	total, first, most, held := 0, 0, 0, map[int]needs{} // what the checkpoint of a step needs
	var pieces []Piece
	for step := 1; step <= 20; step++ {
		w := NewWriter(folder, 1)
		w.Divide(piece)
		if step%7 == 0 { // a resumed process; what was written before does not say where it ends
			for i := range pieces {
				pieces[i].End = 0
			}
		}
		w.InheritLog(0, pieces, uint64(total))
		for range 1 + r.IntN(6) {
			after := total
			for range r.IntN(8) {
				text += fmt.Sprintf("%06d", total)
				total++
			}
			first = max(first, total-r.IntN(40))
			c := &Capture{Logs: []LogRows{{Name: "0/real", File: "real-0", New: (*Folder).NewLog, Rows: []byte(text[6*after:]), After: uint64(after), Total: uint64(total), First: uint64(first)}}}
			c.Step, c.Position, c.Journal = 100*step+after, strconv.Itoa(100*step+after), folder.Mark()
			done := w.Write(c)
			if done.Err != nil {
				t.Fatal(done.Err)
			}
			held[c.Step], pieces = needs{first, total}, done.Data[0].Pieces
			if r.IntN(20) == 0 {
				if err := folder.Keep(done.Path, "test"); err != nil {
					t.Fatal(err)
				}
			}
			needed := map[string]bool{}
			all, err := Checkpoints(folder.Dir())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range all {
				from, err := c.Data[0].Open(folder.Dir())
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(from)
				from.Close()
				if h := held[c.Step]; err != nil || !strings.HasSuffix(text[:6*h.total], string(got)) || len(got) < 6*(h.total-h.first) {
					t.Fatalf("the checkpoint of step %d, which needs rows %+v: %v, %q", c.Step, h, err, got)
				}
				for _, p := range c.Data[0].Pieces {
					needed[p.File] = true
				}
			}
			there, err := filepath.Glob(folder.Path(DataName + "/*"))
			if err != nil || len(there) != len(needed) {
				t.Fatalf("%d files, %d are needed, %v", len(there), len(needed), err)
			}
			most = max(most, len(pieces))
		}
		w.close()
	}
	if most < 3 || most > 20 || total < 150 {
		t.Errorf("%d rows, in %d files at a time", total, most)
	}
}

// A checkpoint is on the disk also if an older one that need not stay cannot be removed.
func TestACheckpointAfterOneThatCannotBeRemoved(t *testing.T) {
	folder, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	write := func(step int) Written {
		c := &Capture{}
		c.Step, c.Position, c.Journal = step, strconv.Itoa(step), folder.Mark()
		return NewWriter(folder, 0).Write(c)
	}
	for step := range lastKept {
		if r := write(step); r.Err != nil || r.Pruned.String() != "" {
			t.Fatalf("%v, %s", r.Err, r.Pruned)
		}
	}
	stop := files.Watch(func(o files.Op) error {
		if o.Kind == files.Removed && strings.HasSuffix(o.Path, checkpointEnd) {
			return syscall.EACCES
		}
		return nil
	})
	r := write(lastKept)
	stop()
	if r.Err != nil || !strings.HasPrefix(r.Pruned.String(), "older checkpoints stay that need not: remove checkpoint: ") {
		t.Errorf("%v, %q", r.Err, r.Pruned)
	}
	if r := write(lastKept + 1); r.Err != nil || r.Pruned.String() != "" {
		t.Errorf("%v, %q", r.Err, r.Pruned)
	}
	if all, err := Checkpoints(folder.Dir()); err != nil || len(all) != lastKept {
		t.Errorf("%d checkpoints, %v", len(all), err)
	}
}
