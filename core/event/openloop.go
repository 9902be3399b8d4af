package event

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"

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

// Sheet decodes the image: squares of Side pixels, one for each of the steps in each of two rows.
func (f *OpenLoopFrames) Sheet() (*image.RGBA, error) {
	img, err := jpeg.Decode(bytes.NewReader(f.Image))
	if err != nil {
		return nil, fmt.Errorf("frames of an open loop: %w", err)
	}
	if want := image.Rect(0, 0, f.Side*len(f.Steps), 2*f.Side); img.Bounds() != want || want.Empty() {
		return nil, fmt.Errorf("frames of an open loop: their image has %v pixels, want %v", img.Bounds().Max, want.Max)
	}
	sheet := image.NewRGBA(img.Bounds())
	draw.Draw(sheet, sheet.Rect, img, image.Point{}, draw.Src)
	return sheet, nil
}
