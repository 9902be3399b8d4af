package envs

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
)

// TraceOptions says what to trace.
type TraceOptions struct {
	Task     Task
	Steps    int    // control steps; after the end of an episode the next one follows
	Controls string // triangle, zero or random
	Seed     uint64 // of the start states and of random controls
}

// traceLine is one line of a trace: an episode's start (step 0, without action
// and reward, with the physical state) or a control step.
type traceLine struct {
	Episode    uint64    `json:"episode"`
	Step       int       `json:"step"`
	Action     []float64 `json:"action,omitempty"`
	Obs        []float64 `json:"obs"`
	Reward     *float64  `json:"reward,omitempty"`
	Truncated  bool      `json:"truncated,omitempty"`
	Terminated bool      `json:"terminated,omitempty"`
	QPos       []float64 `json:"qpos,omitempty"`
	QVel       []float64 `json:"qvel,omitempty"`
}

// Trace runs a task under given controls and writes one JSON object a line:
// every episode's start with its qpos and qvel, then each control step with
// action, observation and reward, in the full precision of the physics.
func Trace(ctx context.Context, w io.Writer, opts TraceOptions) error {
	control, err := newControl(opts.Controls, opts.Seed)
	if err != nil {
		return err
	}
	env, err := opts.Task.New(opts.Seed)
	if err != nil {
		return err
	}
	defer env.Close()
	out := bufio.NewWriter(w)
	if err := trace(ctx, json.NewEncoder(out), env.sim, control, opts.Steps); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}

func trace(ctx context.Context, lines *json.Encoder, s *simulation, control control, steps int) error {
	action := make([]float64, s.task.ActSize)
	episode := uint64(0)
	for k := range steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("trace %s: %w", s.task.Name, err)
		}
		if s.step == notStarted || s.ended() {
			if err := s.reset(episode); err != nil {
				return err
			}
			episode++
			start := traceLine{Episode: s.episode, Obs: s.obs, QPos: s.body.QPos, QVel: s.body.QVel}
			if err := lines.Encode(start); err != nil {
				return fmt.Errorf("write trace: %w", err)
			}
		}
		control(action, k)
		reward, err := s.advance(action)
		if err != nil {
			return err
		}
		line := traceLine{Episode: s.episode, Step: s.step, Action: action, Obs: s.obs, Reward: &reward, Truncated: s.timeout(), Terminated: s.over}
		if err := lines.Encode(line); err != nil {
			return fmt.Errorf("write trace: %w", err)
		}
	}
	return nil
}

// control writes the action of control step k, counted from 0.
type control func(action []float64, k int)

func newControl(name string, seed uint64) (control, error) {
	switch name {
	case "triangle":
		return triangle, nil
	case "zero":
		return func(action []float64, _ int) { clear(action) }, nil
	case "random":
		r := rand.New(rand.NewPCG(seed, 0x7472616365)) // "trace"
		return func(action []float64, _ int) {
			for i := range action {
				action[i] = 2*r.Float64() - 1
			}
		}, nil
	}
	return nil, fmt.Errorf("trace: no controls %q: there are triangle, zero, random", name)
}

// triangle is a wave of period 80/3 steps between -1 and 1, each coordinate 11/80
// of a period behind the last. All its values are exact up to one rounding in any
// implementation, so that traces of different programs can be compared.
func triangle(action []float64, k int) {
	for i := range action {
		t := float64((3*k+11*i)%80) / 40
		if t >= 1 {
			t = 2 - t
		}
		action[i] = 2*t - 1
	}
}
