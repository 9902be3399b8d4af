package rng

import (
	"math"
	"testing"
)

// The logarithm and the sine agree with the standard library's to a few ulp of
// float64, at the ends and between.
func TestLogarithmAndSine(t *testing.T) {
	words := []uint32{0, 1, 2, 3, 1<<29 - 1, 1 << 29, 1<<29 + 1, 1 << 30, 3 << 29, 1<<31 - 1, 1 << 31, 1<<31 + 1, 5 << 29, 3 << 30, 7 << 29, 1<<32 - 2, 1<<32 - 1}
	q := New(2, "words").At(0)
	for range 200_000 {
		words = append(words, q.Uint32(), q.Uint32()>>(q.Uint32()%32))
	}
	for _, w := range words {
		want := math.Log((float64(w) + 0.5) * (1.0 / (1 << 32)))
		if got := logUnit(w); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Fatalf("ln of word %d is %v, want %v", w, got, want)
		}
		sin, cos := sincosTurn(w)
		wantSin, wantCos := math.Sincos(2 * math.Pi * float64(w) * (1.0 / (1 << 32)))
		// Far from zero the argument passed to the library has an error of its own.
		if math.Abs(sin-wantSin) > 1e-15 || math.Abs(cos-wantCos) > 1e-15 {
			t.Fatalf("sine and cosine of word %d are %v and %v, want %v and %v", w, sin, cos, wantSin, wantCos)
		}
	}
	for w, want := range map[uint32][2]float64{0: {0, 1}, 1 << 30: {1, 0}, 1 << 31: {0, -1}, 3 << 30: {-1, 0}} {
		if sin, cos := sincosTurn(w); sin != want[0] || cos != want[1] {
			t.Errorf("sine and cosine of %d quarters are %v and %v", w>>30, sin, cos)
		}
	}
}
