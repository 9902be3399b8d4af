package replay

import (
	"bytes"
	"slices"
	"testing"
)

// A log written piece by piece restores the ring, before and after it is full, and both rings go on
// alike.
func TestALogMakesTheRingAgain(t *testing.T) {
	shape := Shape{Obs: 1, Act: 1}
	for _, capacity := range []int{3, 10, chunkRows + 5} {
		for _, total := range []int{0, 1, 3, 4, 10, 17, chunkRows + 4, 2*chunkRows + 20} {
			r := NewRing(shape, capacity)
			var log []byte
			var written uint64
			for i := range total {
				r.Add(Transition{Obs: []float32{float32(i)}, Act: []float32{1}, Next: []float32{2}})
				if i%3 == 0 || capacity == 3 {
					log = r.AppendSince(log, written)
					written = r.Total()
				}
			}
			log = r.AppendSince(log, written)
			if len(log) != total*r.RowBytes() {
				t.Fatalf("capacity %d, %d rows: the log has %d bytes", capacity, total, len(log))
			}
			again := NewRing(shape, capacity)
			if err := again.LoadLog(bytes.NewReader(log[len(log)-r.Len()*r.RowBytes():]), r.State()); err != nil {
				t.Fatal(err)
			}
			for _, ring := range []*Ring{r, again} {
				ring.Add(Transition{Obs: []float32{-1}, Act: []float32{1}, Next: []float32{2}})
			}
			var a, b bytes.Buffer
			if r.Save(&a) != nil || again.Save(&b) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("capacity %d, %d rows: another ring", capacity, total)
			}
			filed := NewRing(shape, capacity)
			if err := filed.Load(&a); err != nil || a.Len() > 0 || !slices.Equal(contents(filed), contents(r)) || filed.State() != r.State() {
				t.Errorf("capacity %d, %d rows: %v, %d bytes left, another ring from a file", capacity, total, err, a.Len())
			}
		}
	}
}

// A ring needs of its log the rows that it holds: of one that is full, or was emptied, not all.
func TestTheFirstRowOfALog(t *testing.T) {
	r := NewRing(Shape{Obs: 1, Act: 1}, 3)
	for i, want := range []uint64{0, 0, 0, 1, 2, 5, 5, 5, 6, 7} {
		if i == 5 {
			r.Clear()
		}
		r.Add(Transition{Obs: []float32{0}, Act: []float32{1}, Next: []float32{2}})
		if r.First() != want {
			t.Errorf("after %d rows the first one needed is %d, want %d", i+1, r.First(), want)
		}
	}
}

func TestALogThatFitsNoRing(t *testing.T) {
	r := NewRing(Shape{Obs: 1, Act: 1}, 4)
	for _, s := range []State{{Len: 5, Next: 1, Total: 5}, {Len: 2, Next: 1, Total: 2}, {Len: 2, Next: 2, Total: 1}, {Len: -1}, {Len: 4, Next: 4, Total: 4}, {Len: 2, Next: 2, Total: 2}} {
		if err := r.LoadLog(bytes.NewReader(make([]byte, r.RowBytes())), s); err == nil || r.Len() != 0 {
			t.Errorf("%+v: %v, %d rows", s, err, r.Len())
		}
	}
}
