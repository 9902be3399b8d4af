package tui

import (
	"context"
	"fmt"
	"image"
	"os"
	"testing"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/pane"
	"pgrlab/tui/theme"
)

// TestLook shows the screen of a scripted run on the terminal, for people:
//
//	go test -c -o /tmp/look ./tui && PGRLAB_LOOK=1 /tmp/look -test.run TestLook
//
// PGRLAB_LOOK=ascii draws with plain characters.
func TestLook(t *testing.T) {
	wish := os.Getenv("PGRLAB_LOOK")
	if wish == "" {
		t.Skip("for people: set PGRLAB_LOOK=1 and run the test binary on a terminal")
	}
	f := newFake()
	f.start = time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := Options{About: pane.About{Config: fakeConfig(), Device: "cpu avx2", Folder: "runs/look", References: []pane.Reference{{Source: "paper", Mean: 817, Std: 36, Step: 100_000}}, Draw: stripes},
		Start: func() (pane.Lab, error) {
			f.pose = []float64{0}
			f.advance(24_000)
			go f.play(ctx)
			return f, nil
		}}
	if wish == "ascii" {
		o.Characters = theme.ASCII
	}
	o.Home = os.Getenv("PGRLAB_LOOK_HOME")
	outcome, err := Run(ctx, o)
	if path := os.Getenv("PGRLAB_LOOK_LOG"); path != "" {
		text := fmt.Sprintf("%v, error %v, step %d\n", outcome, err, f.Snapshot().Step)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// play advances the fake at about its stated speed, with a long fit now and then.
func (f *fakeLab) play(ctx context.Context) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if f.Snapshot().State != event.Running {
			continue
		}
		before := f.Snapshot().Refits
		f.advance(25)
		if f.Snapshot().Refits == before {
			continue
		}
		for i := range 40 {
			f.setPhase(knob.Fit, i*250, 10_000)
			<-ticker.C
		}
		f.setPhase(knob.Collect, 0, 0)
	}
}

// stripes draws a body in every cell of half blocks, bright above and dark below.
func stripes(_ []float64, w, h int) (*image.RGBA, error) {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		if i/img.Stride%2 == 0 || i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img, nil
}
