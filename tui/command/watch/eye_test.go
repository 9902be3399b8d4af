package watch

import (
	"bytes"
	"image/color"
	"testing"
	"time"
)

// paintedEnv is a lineEnv with a camera: the brightness of all pixels is the number of steps made.
type paintedEnv struct {
	*lineEnv
	drawn int
}

func (e *paintedEnv) Frame(dst []byte, side int) error {
	e.drawn++
	for i := range dst {
		dst[i] = byte(10 * e.step)
	}
	return nil
}

// framesPolicy records the frames that it acts on.
type framesPolicy struct {
	frames [][]byte
	acted  [][]byte // the newest frame of each action
	begun  int
}

func (p *framesPolicy) Act(dst, _ []float32, _ uint64) error {
	p.acted = append(p.acted, bytes.Clone(p.frames[len(p.frames)-1][:1]))
	dst[0] = 1
	return nil
}
func (p *framesPolicy) Begin()           { p.frames, p.begun = nil, p.begun+1 }
func (p *framesPolicy) Close() error     { return nil }
func (p *framesPolicy) Side() int        { return 2 }
func (p *framesPolicy) Seen() [][]byte   { return p.frames }
func (p *framesPolicy) See(frame []byte) { p.frames = append(p.frames, bytes.Clone(frame)) }

// A policy sees each frame that it acts on once, with the run's action repeat, however many
// pictures are made in between. The picture shows the frames that it saw, side by side.
func TestWhatAPolicySees(t *testing.T) {
	p, line := newPlayer(t)
	env, sees := &paintedEnv{lineEnv: line}, &framesPolicy{}
	p.env, p.policy, p.repeat, p.shows = env, sees, 2, "pixels"
	var err error
	if p.eye, err = newEye(sees, env, "line"); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		img, err := p.picture(40, 10)
		if err != nil {
			t.Fatal(err)
		}
		n := len(sees.frames)
		for i, frame := range sees.frames { // each is 10 wide, or less where they do not fit
			width := min(40, 10*n)
			at := (40-width)/2 + i*width/n + width/n/2
			if got, want := img.RGBAAt(at, 5), (color.RGBA{frame[0], frame[0], frame[0], 255}); got != want {
				t.Errorf("frame %d of %d: %v, want %v", i, n, got, want)
			}
		}
		if _, err := p.play(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if got := bytes.Join(sees.acted, nil); !bytes.Equal(got, []byte{0, 20, 40}) || env.drawn != 3 {
		t.Errorf("it acted on %v, and was drawn %d times", got, env.drawn)
	}
	if err := p.next(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.play(100 * time.Millisecond); err != nil || sees.begun != 1 || len(sees.frames) != 1 || sees.frames[0][0] != 0 {
		t.Errorf("the next episode begins with %v, %v", sees.frames, err)
	}
	if _, err := newEye(sees, line, "line"); err == nil {
		t.Error("an environment without a camera is seen")
	}
}
