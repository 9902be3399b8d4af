package experience

import (
	"bytes"
	"reflect"
	"testing"
)

// A pinned look that has left the window is, after a resume, what it was: numbers without a frame, or a
// frame without numbers. Readers tell the two apart by what is nil.
func TestAPinnedLookIsLoadedAsItWas(t *testing.T) {
	for name, shape := range map[string]Shape{"numbers": {Numbers: 2, Act: 1, Copies: 1}, "frames": {Bytes: 3, Act: 1, Copies: 1}} {
		look := func(i int) Look {
			if shape.Bytes > 0 {
				return Look{Frame: []byte{byte(i), 2, 3}}
			}
			return Look{Numbers: []float32{float32(i), 2}}
		}
		begin := func() *Log { return NewLog(shape, Keep{Looks: 4, Steps: 4}) }
		l, pinned := begin(), Ref{Number: 1}
		l.Begin(0, look(0))
		for i := 1; i < 40; i++ {
			l.Add(0, Step{Action: []float32{1}, Reward: 1, Next: look(i)})
			if i == 1 {
				l.Pin(pinned)
			}
		}
		want, held := l.Look(pinned)
		var file bytes.Buffer
		if err := (Pinned{Log: l}).Save(&file); err != nil || !held || file.Len() < 16 {
			t.Fatalf("%s: %v, held %v, %d bytes", name, err, held, file.Len())
		}
		m := begin()
		m.Begin(0, look(0))
		for i := 1; i < 40; i++ {
			m.Add(0, Step{Action: []float32{1}, Reward: 1, Next: look(i)})
		}
		if err := (Pinned{Log: m}).Load(&file); err != nil {
			t.Fatal(err)
		}
		if got, held := m.Look(pinned); !held || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: loaded %#v, want %#v", name, got, want)
		}
	}
}
