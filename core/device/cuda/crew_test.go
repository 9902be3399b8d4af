package cuda

import (
	"bytes"
	"sync/atomic"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/rng"
	"pgrlab/core/testing/emulator"
)

// Each part of a work is done once, however many works there are, and also after Close, when the
// caller is alone. Nothing is allocated.
func TestShare(t *testing.T) {
	dev := emulated(t, emulator.Options{}, Options{})
	var done [mostParts]atomic.Int64
	var parts atomic.Int64
	work := dev.Share(func(part, of int) {
		done[part].Add(1)
		parts.Store(int64(of))
	})
	const works = 50
	for range works {
		work()
	}
	for part := range done {
		want := int64(works)
		if part >= int(parts.Load()) {
			want = 0
		}
		if got := done[part].Load(); got != want {
			t.Errorf("part %d of %d was done %d times in %d works", part, parts.Load(), got, works)
		}
	}
	if n := testing.AllocsPerRun(20, work); n > 0 {
		t.Errorf("a work allocates %v times", n)
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	before := done[0].Load()
	work()
	if parts.Load() != 1 || done[0].Load() != before+1 {
		t.Errorf("after Close a work has %d parts", parts.Load())
	}
}

// Large copies are whole, whatever their size.
func TestCopying(t *testing.T) {
	var crew crew
	defer crew.close()
	var c copying
	for _, size := range []int{0, 5, shared - 1, shared, shared + 13, 3*shared + 1} {
		from, to := make([]byte, size), make([]byte, size+4)
		words := make([]float32, (size+3)/4)
		rng.New(uint64(size), "copying").FillNormal(words, 0, 0)
		copy(from, device.Bytes(words))
		c.do(&crew, to, from)
		if !bytes.Equal(to[:size], from) || !bytes.Equal(to[size:], make([]byte, 4)) {
			t.Errorf("a copy of %d bytes differs", size)
		}
	}
}
