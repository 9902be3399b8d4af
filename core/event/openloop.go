package event

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"slices"

	"pgrlab/core/run"
)

// OpenLoop says how well a model of the world predicts what followed some looks: the learner's, for as many
// sequences as a batch has, or that of a generator of rollouts, for 64 sequences. It sees the observations of the
// first context env steps, and then only the actions that were taken.
type OpenLoop struct {
	Context int         `json:"context"`          // env steps with observations
	Horizon []int       `json:"horizon"`          // env steps after them
	Error   []run.Float `json:"error"`            // at each horizon, root mean square error in deviations of each number of the observation, mean over the numbers that vary; of frames in deviations of all their colours together
	Held    []run.Float `json:"held"`             // the same if the last observation that was seen stood for all that follow
	Reward  []run.Float `json:"reward,omitempty"` // the same error of the reward; missing if the reward did not vary
	// Shown are numbers of the observation of one sequence, from the best predicted one to the worst.
	Shown []OpenLoopNumber `json:"shown,omitempty"`
	// Frames are those of one sequence, of a learner that sees frames.
	Frames *OpenLoopFrames `json:"frames,omitempty"`
}

// OpenLoopNumber is a number of the observation along a sequence.
type OpenLoopNumber struct {
	Number    int         `json:"number"` // from 0 on
	Error     run.Float   `json:"error"`  // over all sequences and horizons
	Real      []run.Float `json:"real"`
	Predicted []run.Float `json:"predicted"` // with observations, what is decoded from the latent
}

// OpenLoopFrames are frames along a sequence.
type OpenLoopFrames struct {
	Side  int    `json:"side"`  // in pixels
	Steps []int  `json:"steps"` // env steps since the last frame that was seen; of those seen, 0 or less
	Image []byte `json:"image"` // JPEG: the real frames from left to right, below them what is decoded from the latents
}

// whole says whether each horizon has its numbers.
func (o *OpenLoop) whole() bool {
	n := len(o.Horizon)
	return n > 0 && len(o.Error) == n && len(o.Held) == n && (o.Reward == nil || len(o.Reward) == n) &&
		!slices.ContainsFunc(o.Shown, func(s OpenLoopNumber) bool { return s.Number < 0 })
}

// mostSheet is more pixels than the frames of a prediction have.
const mostSheet = 1 << 24

// Sheet decodes the image: squares of Side pixels, one for each of the steps in each of two rows. Its size is
// looked at first: a decoder takes the memory that a file claims.
func (f *OpenLoopFrames) Sheet() (*image.RGBA, error) {
	n := len(f.Steps)
	if f.Side < 1 || n < 1 || f.Side > 1<<12 || n > 1<<12 || 2*f.Side*f.Side*n > mostSheet {
		return nil, fmt.Errorf("frames of an open loop: %d frames of %d pixels a side", n, f.Side)
	}
	want := image.Rect(0, 0, f.Side*n, 2*f.Side)
	head, err := jpeg.DecodeConfig(bytes.NewReader(f.Image))
	if err == nil && (head.Width != want.Dx() || head.Height != want.Dy()) {
		return nil, fmt.Errorf("frames of an open loop: their image has %dx%d pixels, want %v", head.Width, head.Height, want.Max)
	}
	var img image.Image
	if err == nil {
		img, err = jpeg.Decode(bytes.NewReader(f.Image))
	}
	if err != nil {
		return nil, fmt.Errorf("frames of an open loop: %w", err)
	}
	if img.Bounds() != want {
		return nil, fmt.Errorf("frames of an open loop: their image has %v pixels, want %v", img.Bounds().Max, want.Max)
	}
	sheet := image.NewRGBA(img.Bounds())
	draw.Draw(sheet, sheet.Rect, img, image.Point{}, draw.Src)
	return sheet, nil
}
