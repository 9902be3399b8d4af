package experience

import (
	"bytes"
	"errors"
	"testing"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// A copy of the memory has every frame of a row that is drawn at the place that the row names: while
// frames are added and forgotten, after a put that fails, and when other frames were loaded.
func TestCopiesOfFrames(t *testing.T) {
	const size, capacity, stack = 3, 700, 3
	for _, copies := range []int{1, 2} {
		f, added := NewLog(Shape{Bytes: size, Act: 1, Copies: copies}, Keep{Looks: capacity}), 0
		add := func(f *Log, n, salt int) {
			for range n {
				frame := []byte{byte(added), byte(added >> 8), byte(salt)}
				if which, at := added%copies, added/copies; at%150 == 0 {
					f.Begin(which, Look{Frame: frame})
				} else {
					f.Add(which, Step{Action: []float32{0}, Reward: 0, Next: Look{Frame: frame}})
				}
				added++
			}
		}
		var seen Copied
		held := map[int][]byte{}
		room := 0
		put := func(place int, frames []byte) error {
			for ; len(frames) > 0; place, frames = place+1, frames[size:] {
				if place >= room {
					t.Fatalf("%d copies: place %d of %d", copies, place, room)
				}
				held[place] = bytes.Clone(frames[:size])
			}
			return nil
		}
		check := func(what string) {
			t.Helper()
			s := Frames{Log: f, Stream: rng.New(2, "rows")}
			var most int
			if room, most = s.Places(); most != capacity {
				t.Errorf("%d places", most)
			}
			if err := s.Copy(&seen, put); err != nil {
				t.Fatal(err)
			}
			row := replay.FrameRow{Stack: make([][]byte, stack), Next: make([][]byte, stack), Places: make([]int, stack), NextPlaces: make([]int, stack)}
			for i := range 200 {
				if err := s.Draw(&row, 2, 1, 7, i); err != nil {
					t.Fatal(err)
				}
				for k := range stack {
					if !bytes.Equal(held[row.Places[k]], row.Stack[k]) || !bytes.Equal(held[row.NextPlaces[k]], row.Next[k]) {
						t.Fatalf("%s, %d copies: row %d has other frames than its places", what, copies, i)
					}
				}
			}
		}
		add(f, 300, 0)
		check("new")
		add(f, 5, 0)
		check("five more")
		add(f, 500, 0)
		check("the oldest are forgotten")
		add(f, 900, 0)
		check("all are forgotten")
		puts := 0
		if err := f.Copy(&seen, func(int, []byte) error { puts++; return nil }); err != nil || puts > 0 {
			t.Errorf("nothing is new, and %d were put: %v", puts, err)
		}
		add(f, 1, 0)
		if err := f.Copy(&seen, func(int, []byte) error { return errors.New("full") }); err == nil {
			t.Error("a put that fails is not reported")
		}
		clear(held)
		check("put again")
		var file bytes.Buffer
		other := NewLog(Shape{Bytes: size, Act: 1, Copies: copies}, Keep{Looks: capacity})
		added = 0
		add(other, 1706, 1) // as many as f has had
		if err := other.Save(&file); err != nil {
			t.Fatal(err)
		}
		if err := f.Load(&file); err != nil {
			t.Fatal(err)
		}
		check("loaded")
	}
}
