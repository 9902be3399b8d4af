package bench

import (
	"bytes"
	"errors"
	"testing"

	"pgrlab/core/agent/images"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

var _ images.Source = (*film)(nil)

// Every copy of the film gets all frames once, at the places that its rows name: a second copy, and one
// that lost what it had, get them again. A copy that could not be made begins again.
func TestCopiesOfTheFilm(t *testing.T) {
	f := newFilm(frameUpdate{demoPixels, 256, 2}.config(), 4)
	held, _ := f.Places()
	var to experience.Copied
	frames := map[int][]byte{}
	put := func(place int, frame []byte) error { frames[place] = frame; return nil }
	for what, c := range map[string]struct {
		prepare func()
		want    int
	}{
		"a copy":                  {func() { to = experience.Copied{} }, held},
		"a copy that has all":     {func() { f.Copy(&to, put) }, 0},
		"a copy that lost all":    {func() { f.Copy(&to, put); to = experience.Copied{} }, held},
		"a copy that was refused": {func() { to = experience.Copied{}; f.Copy(&to, func(int, []byte) error { return errors.New("full") }) }, held},
	} {
		c.prepare()
		clear(frames)
		if err := f.Copy(&to, put); err != nil || len(frames) != c.want {
			t.Errorf("%s gets %d frames, %v, want %d", what, len(frames), err, c.want)
		}
	}
	f.Copy(new(experience.Copied), put)
	row := replay.FrameRow{Places: make([]int, 3), NextPlaces: make([]int, 3), Stack: make([][]byte, 3), Next: make([][]byte, 3)}
	if err := f.Draw(&row, 3, 0.99, 1, 1); err != nil {
		t.Fatal(err)
	}
	for k, place := range row.Places {
		if !bytes.Equal(frames[place], row.Stack[k]) || !bytes.Equal(frames[row.NextPlaces[k]], row.Next[k]) {
			t.Errorf("frame %d of a row is not at its place", k)
		}
	}
}
