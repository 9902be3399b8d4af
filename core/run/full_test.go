package run

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run/files"
)

// noRoom refuses a change because the disk is full, after so many bytes of it if it is a write.
func noRoom(o files.Op, bytes int) error {
	if o.Kind == files.Wrote {
		return fmt.Errorf("%w: %w", files.Torn(bytes), syscall.ENOSPC)
	}
	return syscall.ENOSPC
}

// content reads data of the run in a folder.
func content(t *testing.T, d Data, dir string) string {
	t.Helper()
	from, err := d.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Errorf("%s: %v", d.Name, err)
	}
	return string(text)
}

// A log that the disk had room for a part of is whole once there is room again: nothing of that part is
// left between its rows, also where it could not be removed at once.
func TestALogOnADiskThatWasFull(t *testing.T) {
	folder, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for how, begin := range map[string]NewLog{"plain": (*Folder).NewLog, "packed": (*Folder).NewPackedLog} {
		for _, room := range []int{0, 1, 100, 1 << 20} { // bytes; the last one has the disk full when the file is synced
			for _, stuck := range []bool{false, true} {
				log, err := begin(folder, how)
				if err != nil {
					t.Fatal(err)
				}
				if err := log.Append(rowsFrom(0, 50)); err != nil {
					t.Fatal(err)
				}
				stop := files.Watch(func(o files.Op) error {
					if o.Kind == files.Wrote && len(o.Data) <= room || o.Kind == files.Truncated && !stuck {
						return nil
					}
					return noRoom(o, room)
				})
				err = log.Append(rowsFrom(50, 80))
				stop()
				if !IsFull(err) {
					t.Errorf("%s, room for %d bytes: %v", how, room, err)
				}
				for _, n := range []int{50, 100} {
					if err := log.Append(rowsFrom(n, 50)); err != nil {
						t.Error(err)
					}
				}
				log.Close()
				if got := content(t, Data{how, []Piece{log.Piece()}}, folder.Dir()); got != string(rowsFrom(0, 150)) {
					t.Errorf("%s, room for %d bytes, truncation refused: %v: other rows", how, room, stuck)
				}
			}
		}
	}
}

// saving is a run whose captures have rows in a log, data that they share, and a section.
type saving struct {
	folder *Folder
	w      *Writer
	kept   uint64 // rows on the disk
}

// save takes a capture of a step, with so many rows in its log, and writes it.
func (s *saving) save(step, total int) Written {
	of := fmt.Sprint("synthetic rows of step ", step)
	c := &Capture{
		Logs: []LogRows{{Name: "0/real", File: "real-0", New: (*Folder).NewLog, Rows: rowsFrom(int(s.kept), total-int(s.kept)), After: s.kept, Total: uint64(total)}},
		Shared: []Shared{{Slot: "0/synthetic", Of: of, Name: "0/synthetic", File: "synthetic", Write: func(w io.Writer) error {
			_, err := io.WriteString(w, of)
			return err
		}}},
	}
	c.Step, c.Position, c.Journal = step, strconv.Itoa(step), s.folder.Mark()
	c.Sections = []Section{{"loop", []byte(of)}}
	r := s.w.Write(c)
	s.kept = r.Totals[0]
	return r
}

// A disk that is full at any one change of a checkpoint, or from there on, costs that checkpoint at most:
// those before it stay as they were, nothing unfinished is left, and the next one is whole.
func TestACheckpointForWhichThereIsNoRoom(t *testing.T) {
	for _, stays := range []bool{false, true} {
		for n := 0; ; n++ {
			if changes := fullAt(t, n, stays); t.Failed() {
				t.Fatalf("at change %d, full from there on: %v", n, stays)
			} else if changes <= n {
				if n < 12 {
					t.Errorf("a checkpoint takes %d changes", n)
				}
				break
			}
		}
	}
}

// fullAt has the disk full at change n of a run's third checkpoint. Where it stays full only files that are
// removed make no demand on it. It returns how many changes there were.
func fullAt(t *testing.T, n int, stays bool) (seen int) {
	folder, err := Create(filepath.Join(t.TempDir(), "run"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	s := &saving{folder: folder, w: NewWriter(folder, 1)}
	defer s.w.close()
	for step := 1; step <= 2; step++ {
		if r := s.save(step, 20*step); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	stop := files.Watch(func(o files.Op) error {
		if seen++; seen == n+1 || stays && seen > n && o.Kind != files.Removed {
			return noRoom(o, len(o.Data)/2)
		}
		return nil
	})
	r := s.save(3, 60)
	stop()
	if r.Err != nil && (!IsFull(r.Err) || strings.Contains(r.Err.Error(), "\n")) {
		t.Errorf("%v", r.Err)
	}
	if left := names(t, folder.Dir()); strings.Contains(left, unfinished) {
		t.Errorf("unfinished files are left: %s", left)
	}
	s.whole(t, 2)
	if r := s.save(4, 80); r.Err != nil {
		t.Fatal(r.Err)
	}
	s.whole(t, 3)
	return seen
}

// whole says which of the checkpoints, of which there are at least so many, are not as they were taken.
func (s *saving) whole(t *testing.T, least int) {
	t.Helper()
	found, err := s.folder.Checkpoints()
	if err != nil || len(found) < least {
		t.Errorf("%d checkpoints: %v", len(found), err)
	}
	for _, at := range found {
		c, err := LoadCheckpoint(at.Path, 1<<20)
		if err != nil {
			t.Errorf("%s: %v", at.Path, err)
			continue
		}
		of := fmt.Sprint("synthetic rows of step ", c.Step)
		if got := content(t, c.Data[0], s.folder.Dir()); got != string(rowsFrom(0, 20*c.Step)) {
			t.Errorf("step %d: the log holds other rows", c.Step)
		}
		if got := content(t, c.Data[1], s.folder.Dir()); got != of || !bytes.Equal(c.Sections[0].Content, []byte(of)) {
			t.Errorf("step %d: %q and %q", c.Step, got, c.Sections[0].Content)
		}
	}
}
