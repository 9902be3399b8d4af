package images

import (
	"bytes"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/window"
)

// On a device that cannot make images the host does, as frames are set; core/device/cuda tests the
// others.
func TestTheHostMakesImages(t *testing.T) {
	dev := cputest.New(t, cpu.Options{Threads: 1})
	of := window.Frames{Height: 3, Width: 3, Channels: 1, Pad: 1}
	store := NewStore(dev, of.Size())
	if err := store.Follow(struct{}{}); err != nil || store.Held() {
		t.Fatalf("the device holds frames: %v", err)
	}
	b, err := NewBatch(dev, store, of, 2, 2, "s", "s'")
	if err != nil {
		t.Fatal(err)
	}
	stack := [][]byte{[]byte("abcdefghi"), []byte("123456789")}
	if err := b.Make(dev, 0, func() error { b.Set(1, 1, stack, nil, 2, 0); return nil }); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 18)
	of.StackBytes(want, stack, 2, 0)
	words := b.Image(1).Shape[1]
	if got := device.Bytes(b.Image(1).Data[words:])[:18]; !bytes.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
