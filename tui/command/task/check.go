package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

const (
	played  = 200 // random steps
	started = 10  // episodes whose starts are compared
	resumed = 50  // steps that are played twice
	listed  = 50  // numbers of an observation that are described
	huge    = 1000
)

// checker plays a task.
type checker struct {
	ctx  context.Context
	task task.Task
	tell func(cli.Finding) error // gets a line as soon as it is known
	err  error                   // the first one of tell

	env         task.Env
	random      *rand.Rand
	obs, action []float32
	episode     uint64

	low, high     []float32 // of the observations
	least, most   float64   // of the rewards
	sum           float64
	ended, longer int // episodes that ended by themselves, and at their time limit
	lost          error
}

// Check plays a task in the ways in which a run does, and says what it finds. The error says why it
// cannot be used at all.
func Check(ctx context.Context, t task.Task, tell func(cli.Finding) error) error {
	c := &checker{
		ctx: ctx, task: t, tell: tell, random: rand.New(rand.NewPCG(1, 1)), obs: make([]float32, t.ObsSize), action: make([]float32, t.ActSize),
		low: slices.Repeat([]float32{float32(math.Inf(1))}, t.ObsSize), high: slices.Repeat([]float32{float32(math.Inf(-1))}, t.ObsSize),
		least: math.Inf(1), most: math.Inf(-1),
	}
	c.say("%s: %s", t.Name, t.Doc)
	if t.Own != nil {
		for _, note := range t.Own.Notes() {
			c.say("%s", note)
		}
	}
	c.say("an observation has %d numbers, an action %d, an episode at most %d steps", t.ObsSize, t.ActSize, t.EpisodeSteps)
	var err error
	if c.env, err = t.New(1); err != nil {
		return err
	}
	defer c.env.Close()
	for _, part := range []func() error{c.play, c.starts, c.state} {
		if err := part(); err != nil {
			return err
		}
	}
	return c.err
}

func (c *checker) say(format string, about ...any) {
	c.add(cli.Finding{Text: fmt.Sprintf(format, about...)})
}

func (c *checker) warn(format string, about ...any) {
	c.add(cli.Finding{Wrong: true, Text: fmt.Sprintf(format, about...)})
}

func (c *checker) add(f cli.Finding) {
	if c.err == nil {
		c.err = c.tell(f)
	}
}

// begin starts the next episode.
func (c *checker) begin() error {
	err := c.env.Reset(c.episode, c.obs)
	c.episode++
	return err
}

// step makes a random step, and begins the next episode where one is over. It returns the reward.
func (c *checker) step() (float64, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	for i := range c.action {
		c.action[i] = 2*c.random.Float32() - 1
	}
	reward, terminated, truncated, err := c.env.Step(c.action, c.obs)
	var lost interface{ EpisodeLost() bool }
	switch {
	case errors.As(err, &lost) && lost.EpisodeLost():
		c.lost = err
		return 0, c.begin()
	case err != nil:
		return 0, err
	}
	if terminated {
		c.ended++
	} else if truncated {
		c.longer++
	}
	if !terminated && !truncated {
		return reward, nil
	}
	c.see()
	return reward, c.begin()
}

// see takes the bounds of an observation into account.
func (c *checker) see() {
	for i, x := range c.obs {
		c.low[i], c.high[i] = min(c.low[i], x), max(c.high[i], x)
	}
}

// play makes random steps and describes what was seen.
func (c *checker) play() error {
	for range started { // what [reset] draws stays the same for an episode
		if err := c.begin(); err != nil {
			return err
		}
		c.see()
	}
	begun := time.Now()
	for range played {
		c.see()
		reward, err := c.step()
		if err != nil {
			return err
		}
		c.least, c.most, c.sum = min(c.least, reward), max(c.most, reward), c.sum+reward
	}
	seconds := time.Since(begun).Seconds()
	c.observed()
	if c.least == c.most {
		c.warn("in %d random steps the reward is always %g: nothing says what is better", played, c.least)
	} else {
		c.say("in %d random steps the reward is from %.4g to %.4g, %.4g on average", played, c.least, c.most, c.sum/played)
	}
	switch {
	case c.lost != nil:
		c.warn("an episode was lost: %v", c.lost)
	case c.ended > played/4:
		c.warn("%d episodes ended by themselves within %d steps: hardly anything can be learned before they end", c.ended, played)
	case c.task.Terminates:
		c.say("%d episodes ended by themselves within %d steps", c.ended, played)
	default:
		c.say("episodes end at their time limit only")
	}
	c.say("%.0f steps/s on one core", played/seconds)
	return nil
}

// observed describes the numbers of the observations.
func (c *checker) observed() {
	for i, name := range c.task.Names {
		switch {
		case i >= listed:
			c.say("and %d numbers more", len(c.task.Names)-listed)
			return
		case c.low[i] == c.high[i]:
			c.warn("%s is always %g: leave it out, or let something change it", name, c.low[i])
		case max(-c.low[i], c.high[i]) > huge:
			c.warn("%s is from %.4g to %.4g: networks learn from numbers near 1: clip or scale it", name, c.low[i], c.high[i])
		default:
			c.say("%s from %.4g to %.4g", name, c.low[i], c.high[i])
		}
	}
}

// starts compares the beginnings of episodes.
func (c *checker) starts() error {
	var first []float32
	for range started {
		if err := c.begin(); err != nil {
			return err
		}
		if first == nil {
			first = slices.Clone(c.obs)
		} else if !slices.Equal(first, c.obs) {
			c.say("episodes begin in different states")
			return nil
		}
	}
	c.say("all episodes begin with the same observation: [reset] can draw others")
	return nil
}

// state saves in the middle of an episode, and plays what follows twice.
func (c *checker) state() error {
	other, err := c.task.New(2)
	if err != nil {
		return err
	}
	defer other.Close()
	for range resumed {
		if _, err := c.step(); err != nil {
			return err
		}
	}
	var saved bytes.Buffer
	if err := errors.Join(c.env.Save(&saved), other.Load(&saved)); err != nil {
		return err
	}
	again := make([]float32, len(c.obs))
	for range resumed {
		for i := range c.action {
			c.action[i] = 2*c.random.Float32() - 1
		}
		reward, over, late, err := c.env.Step(c.action, c.obs)
		repeated, _, _, failed := other.Step(c.action, again)
		if (err == nil) != (failed == nil) || err == nil && (reward != repeated || !slices.Equal(c.obs, again)) {
			c.warn("a state that was saved does not go on as if nothing had been: a run that is resumed differs from one without a break")
			return nil
		}
		if err != nil || over || late {
			break
		}
	}
	c.say("a state that was saved goes on in the same way")
	return nil
}
