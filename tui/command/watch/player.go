package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pgrlab/core/policy"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

// A player plays a task under a policy, a picture at a time. Its methods may be
// called from any goroutine.
type player struct {
	task   task.Task
	by     string // name of the policy
	policy policy.Policy
	env    task.Env
	view   cli.View
	device cli.Device // nil: none is needed
	eye    *eye       // nil: the policy sees no frames
	acts   uint64     // number of the policy's actions, over all episodes
	repeat int        // number of steps for which the policy repeats an action
	shows  string     // what a picture shows: task.ObservationPixels, or else the scene

	mu          sync.Mutex
	closed      bool
	obs, action []float32
	pose        []float64
	owed        time.Duration // simulated time that is still to be played
	scene
	returns []float64 // of the episodes that have ended
}

// scene is the state of a player.
type scene struct {
	episode, step   int
	reward, returns float64
	over            bool // the episode has ended
}

// build makes what the player needs.
func (p *player) build(d cli.Deps, saved *savedPolicy, seed uint64) (err error) {
	p.repeat = 1
	if p.task.Program == nil {
		if p.view, err = d.View(p.task); err != nil {
			return err
		}
	}
	if saved != nil {
		p.repeat = max(1, saved.config.Environment.ActionRepeat)
		if p.device, err = d.Device(cli.DeviceRequest{Threads: 1}); err != nil {
			return err
		}
		if p.policy, p.by, err = saved.load(d, p.task, p.device); err != nil {
			p.policy = policy.Random(p.task, seed) // there must be one to close
			return err
		}
	}
	if p.env, err = p.task.New(seed); err != nil {
		return err
	}
	_, posed := p.env.(task.Posed)
	if _, drawn := p.env.(task.Drawn); !posed && !drawn {
		return fmt.Errorf("%s cannot be drawn", p.task.Name)
	}
	if p.eye, err = newEye(p.policy, p.env, p.task.Name); err != nil {
		return err
	}
	if p.shows == task.ObservationPixels && p.eye == nil {
		return fmt.Errorf("the policy acts on states: there are no pixels that it sees: leave out --observation")
	}
	p.obs, p.action = make([]float32, p.task.ObsSize), make([]float32, p.task.ActSize)
	return p.env.Reset(0, p.obs)
}

// close frees everything.
func (p *player) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	err := p.policy.Close()
	if p.env != nil {
		err = errors.Join(err, p.env.Close())
	}
	if p.device != nil {
		err = errors.Join(err, p.device.Close())
	}
	return err
}

var errClosed = errors.New("closed")

// play lets d of simulated time pass, up to the end of the episode.
func (p *player) play(d time.Duration) (scene, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.scene, errClosed
	}
	// Half a step would make the picture jump: a remainder is carried over to the next picture.
	for p.owed += d; p.owed >= p.stepTime()/2 && !p.over; p.owed -= p.stepTime() {
		if err := p.advance(); err != nil {
			return p.scene, err
		}
	}
	return p.scene, nil
}

// stepTime is the simulated time of a step; another program does not say it.
func (p *player) stepTime() time.Duration {
	if p.view == nil {
		return time.Second / 25
	}
	return p.view.StepTime()
}

// advance makes one step.
func (p *player) advance() error {
	if p.step%p.repeat == 0 {
		if err := p.act(); err != nil {
			return err
		}
	}
	reward, terminated, truncated, err := p.env.Step(p.action, p.obs)
	if err != nil {
		return err
	}
	p.step++
	p.reward = reward
	p.scene.returns += reward
	if p.over = terminated || truncated; p.over {
		p.returns = append(p.returns, p.scene.returns)
	}
	return nil
}

// act chooses the action of the next steps.
func (p *player) act() error {
	if p.eye != nil {
		if err := p.eye.look(); err != nil {
			return err
		}
		p.eye.fresh = false
	}
	p.acts++
	return p.policy.Act(p.action, p.obs, p.acts-1)
}

// next begins the next episode.
func (p *player) next() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	p.scene = scene{episode: p.episode + 1}
	if p.eye != nil {
		p.eye.fresh = false
	}
	p.owed = 0
	p.policy.Begin()
	return p.env.Reset(uint64(p.episode), p.obs)
}

// picture is the present view, w by h pixels, valid until the next call.
func (p *player) picture(w, h int) (*image.RGBA, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.shows == task.ObservationPixels {
		if p.step%p.repeat == 0 && !p.over {
			if err := p.eye.look(); err != nil {
				return nil, err
			}
		}
		return p.eye.picture(w, h), nil
	}
	if drawn, is := p.env.(task.Drawn); is {
		return drawnBy(drawn, w, h)
	}
	p.pose = p.env.(task.Posed).Pose(p.pose[:0])
	return p.view.Draw(p.pose, w, h)
}

// drawnBy is the picture of another program.
func drawnBy(env task.Drawn, w, h int) (*image.RGBA, error) {
	rgb, err := env.Draw(w, h)
	if err != nil {
		return nil, fmt.Errorf("cannot be drawn: %w", err)
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		copy(img.Pix[4*i:], rgb[3*i:3*i+3])
		img.Pix[4*i+3] = 0xff
	}
	return img, nil
}

// toFiles plays whole episodes into numbered PNG files.
func (p *player) toFiles(ctx context.Context, dir string, w, h, fps, episodes int) error {
	if err := cli.MakeFolder(dir, "pictures"); err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	var file bytes.Buffer
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		img, err := p.picture(w, h)
		if err != nil {
			return err
		}
		file.Reset()
		if err := encoder.Encode(&file, img); err != nil {
			return fmt.Errorf("write picture: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.png", n)), file.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write picture: %w", err)
		}
		if p.over {
			if p.episode+1 == episodes {
				return nil
			}
			if err := p.next(); err != nil {
				return err
			}
			continue
		}
		if _, err := p.play(time.Second / time.Duration(fps)); err != nil {
			return err
		}
	}
}

// summary says at the end what was seen.
func (p *player) summary() string {
	said := fmt.Sprintf("%s, %s: ", p.task.Name, p.by)
	if len(p.returns) == 0 {
		return said + fmt.Sprintf("return %.1f in %d of %d steps", p.scene.returns, p.step, p.task.EpisodeSteps)
	}
	sum := 0.
	for _, r := range p.returns {
		sum += r
	}
	noun := "episodes"
	if len(p.returns) == 1 {
		noun = "episode"
	}
	return said + fmt.Sprintf("%d %s, mean return %.1f", len(p.returns), noun, sum/float64(len(p.returns)))
}
