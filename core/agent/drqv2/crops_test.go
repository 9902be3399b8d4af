package drqv2

import (
	"bytes"
	"testing"

	"pgrlab/core/agent"
)

// Crops shows what the batch's programs were given, row by row, and by how much each row was
// shifted. Before the first batch there is nothing to show.
func TestCropsAreWhatABatchHolds(t *testing.T) {
	c := small()
	c.Slice = 6 // after two parts the rows of the last one are still held
	x := newAgent(t, c, newDevice(t, 2))
	s := newSession(x, newFilm(c, 40), 6)
	if got := x.Crops(); len(got) != 0 {
		t.Fatalf("%d crops before a batch", len(got))
	}
	moved := 0
	for range 5 {
		s.update(t)
		crops := x.Crops()
		if len(crops) != agent.MostCrops {
			t.Fatalf("%d crops", len(crops))
		}
		held, side, depth := x.updaters.Newest().batch.images.Data, c.Pixels.Side, c.Pixels.Stack*agent.Colours
		for row, crop := range crops {
			if moved++; crop.Down == 0 && crop.Across == 0 {
				moved--
			}
			for y := range side {
				for k := range side {
					from := (clampTo(y+crop.Down, side)*side + clampTo(k+crop.Across, side)) * agent.Colours
					at := (y*side + k) * agent.Colours
					for colour := range agent.Colours {
						given, want := x.image(held, row)[(y*side+k)*depth+depth-agent.Colours+colour], crop.Cropped[at+colour]
						if given != want || crop.Cropped[at+colour] != crop.Frame[from+colour] {
							t.Fatalf("row %d, pixel %d,%d: the batch holds %v, shown is %v of %v", row, y, k, given, want, crop.Frame[from+colour])
						}
					}
				}
			}
		}
	}
	if moved < 10 {
		t.Errorf("only %d of 20 frames were shifted", moved)
	}
	mine := x.Crops()
	clear(mine[0].Frame)
	if again := x.Crops(); bytes.Equal(again[0].Frame, mine[0].Frame) {
		t.Error("a change of what is shown changes the frames")
	}
}

// A batch without real rows has no frames to show.
func TestNoCropsOfABatchOfSyntheticRows(t *testing.T) {
	c := small()
	x := newAgent(t, c, newDevice(t, 1))
	s := newSession(x, newFilm(c, 40), 6)
	s.update(t)
	s.dream(6)
	s.work.Source.Mix.Real = 0
	s.update(t)
	if got := x.Crops(); len(got) != 0 {
		t.Errorf("%d crops of an older batch", len(got))
	}
}

func clampTo(i, n int) int { return max(0, min(i, n-1)) }
