package event

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"runtime"
	"testing"
)

// The size of a sheet is looked at before it is decoded, which would take the memory that its image claims.
func TestASheetIsMeasuredBeforeItIsDecoded(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 16, 16)), nil); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	if _, err := (&OpenLoopFrames{Side: 8, Steps: []int{0, 1}, Image: text}).Sheet(); err != nil {
		t.Error(err)
	}
	at := bytes.Index(text, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(text[at+5:], 20000)
	binary.BigEndian.PutUint16(text[at+7:], 20000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := (&OpenLoopFrames{Side: 8, Steps: []int{0, 1}, Image: text}).Sheet()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 10<<20 {
		t.Errorf("%v: %d bytes are taken", err, got)
	}
}
