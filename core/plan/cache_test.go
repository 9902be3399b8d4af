package plan

import (
	"errors"
	"slices"
	"testing"
)

// closing counts how often each key was closed.
type closing struct {
	key    int
	closed map[int]int
}

func (c *closing) Close() error { c.closed[c.key]++; return nil }

func TestACacheKeepsWhatWasUsedLast(t *testing.T) {
	refused := errors.New("refused")
	closed, compiled := map[int]int{}, []int{}
	c := ByRows[*closing]{Most: 2, Compile: func(rows int) (*closing, error) {
		if compiled = append(compiled, rows); rows == 13 {
			return nil, refused
		}
		return &closing{rows, closed}, nil
	}}
	if c.Newest() != nil {
		t.Error("an empty cache has a newest program")
	}
	for _, rows := range []int{4, 8, 4, 16, 4, 8} { // 16 takes the place of 8, and 8 that of 16
		if got, err := c.Of(rows); err != nil || got.key != rows || c.Newest() != got {
			t.Fatalf("%d rows: %+v, %v", rows, got, err)
		}
	}
	if want := []int{4, 8, 16, 8}; !slices.Equal(compiled, want) || closed[8] != 1 || closed[16] != 1 || closed[4] != 0 || c.Len() != 2 {
		t.Errorf("compiled %v, want %v; closed %v", compiled, want, closed)
	}
	if _, found := c.Find(16); found {
		t.Error("what was closed is found")
	}
	if c.Find(4); c.Newest().key != 4 {
		t.Error("what was found is not the newest")
	}
	for range 2 {
		if _, err := c.Of(13); !errors.Is(err, refused) {
			t.Errorf("a failure gives %v", err)
		}
	}
	if c.Len() != 1 || compiled[len(compiled)-1] != 13 || compiled[len(compiled)-2] != 13 {
		t.Errorf("%d programs after failures, compiled %v", c.Len(), compiled)
	}
	c.Of(1)
	if err := c.Drop(func(rows int) bool { return rows == 4 }); err != nil || closed[4] != 1 || c.Len() != 1 {
		t.Errorf("dropped: %v, closed %v", err, closed)
	}
	for range 2 {
		if err := c.Close(); err != nil || closed[1] != 1 || c.Len() != 0 {
			t.Errorf("closed: %v, %v", err, closed)
		}
	}
}
