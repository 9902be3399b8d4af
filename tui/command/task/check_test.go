package task

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
)

// fake is an environment whose observation is its episode and a count of its steps.
type fake struct {
	episode, step float32
	ends          int  // steps after which an episode ends by itself; 0: none does
	forgets       bool // a saved state lacks the steps
	fails         error
	long          bool // no episode ends within the check
}

func (*fake) ObsSize() int { return 2 }
func (*fake) ActSize() int { return 1 }
func (*fake) Close() error { return nil }

func (f *fake) Reset(episode uint64, obs []float32) error {
	f.episode, f.step = float32(episode), 0
	f.observe(obs)
	return nil
}

func (f *fake) observe(obs []float32) { copy(obs, []float32{f.episode, f.step}) }

func (f *fake) Step(action, obs []float32) (reward float64, terminated, truncated bool, err error) {
	if f.step++; f.step == 30 && f.fails != nil {
		return 0, false, false, f.fails
	}
	f.observe(obs)
	return float64(f.step), f.ends > 0 && int(f.step)%f.ends == 0, !f.long && f.step == 100, nil
}

func (f *fake) Save(w io.Writer) error {
	_, err := fmt.Fprintln(w, f.episode, f.step)
	return err
}

func (f *fake) Load(r io.Reader) error {
	_, err := fmt.Fscan(r, &f.episode, &f.step)
	if f.forgets {
		f.step = 0
	}
	return err
}

type lost struct{ error }

func (lost) EpisodeLost() bool { return true }

// A check marks what is in the way of learning, and nothing else.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    fake
		marked []string
		err    string
	}{
		{"well", fake{}, nil, ""},
		{"ends", fake{ends: 80}, nil, ""},
		{"draws a goal", fake{long: true}, nil, ""},
		{"ends at once", fake{ends: 2}, []string{"100 episodes ended by themselves within 200 steps"}, ""},
		{"forgets", fake{forgets: true}, []string{"a state that was saved does not go on"}, ""},
		{"loses", fake{fails: lost{errors.New("the simulation diverged")}}, []string{"an episode was lost: the simulation diverged"}, ""},
		{"fails", fake{fails: errors.New("reward is NaN")}, nil, "reward is NaN"},
	} {
		var all []string
		var marked []string
		on := task.Task{Name: c.name, ObsSize: 2, ActSize: 1, EpisodeSteps: 100, Terminates: c.env.ends > 0, Names: []string{"episode", "step"},
			New: func(uint64) (task.Env, error) { e := c.env; return &e, nil }}
		err := Check(t.Context(), on, func(f cli.Finding) error {
			if all = append(all, f.Text); f.Wrong {
				marked = append(marked, f.Text)
			}
			return nil
		})
		if !slices.EqualFunc(marked, c.marked, strings.HasPrefix) || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %q, %v; want %q, %s", c.name, marked, err, c.marked, c.err)
		}
		if text := strings.Join(all, "\n"); err == nil && !strings.Contains(text, "episodes begin in different states") {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
