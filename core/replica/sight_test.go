package replica

import (
	"bytes"
	"errors"
	"testing"

	"pgrlab/core/source"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// shaky is an environment that fails once, at a given env step of its own.
type shaky struct {
	task.Env
	task.Seen
	left *int // steps until it fails
}

var errShaky = errors.New("the simulator is gone")

func (e shaky) Step(action, obs []float32) (float64, bool, bool, error) {
	if *e.left--; *e.left == 0 {
		return 0, false, false, errShaky
	}
	return e.Env.Step(action, obs)
}

// shakyTask is the tiny task with an environment that fails at the given step, counted over all
// copies.
func shakyTask(at int) task.Task {
	t := tiny.Task()
	begin := t.New
	t.New = func(seed uint64) (task.Env, error) {
		e, err := begin(seed)
		return shaky{e, e.(task.Seen), &at}, err
	}
	return t
}

// If a copy fails in the middle of an env step, the frames of the copies before it are kept until
// the step is complete, also by a replica that goes on from a state saved in between. Each frame is
// there once, and shows its environment.
func TestACopyThatIsSeenFails(t *testing.T) {
	c := tiny.Pixels()
	c.Environment.Copies, c.StartSteps = 3, 100
	made := map[*Replica]*[]task.Seen{} // the environments of each, in the order in which they are made
	begin := func(problem task.Task) *Replica {
		start, all := problem.New, new([]task.Seen)
		problem.New = func(seed uint64) (task.Env, error) {
			e, err := start(seed)
			*all = append(*all, e.(task.Seen))
			return e, err
		}
		m, _ := newReplicaOn(t, c, problem)
		made[m] = all
		return m
	}
	m, now := begin(shakyTask(3*4+2)), Now{Settings: &c.Knobs}
	for now.Step = 1; now.Step <= 4; now.Step++ {
		if err := m.EnvStep(now); err != nil {
			t.Fatal(err)
		}
	}
	before := m.Observed.log.Len()
	if err := m.EnvStep(now); !errors.Is(err, source.ErrEnvironment) {
		t.Fatal(err)
	}
	if m.World.Half == nil || len(m.World.Half.Frames) != 3*m.World.FrameSize() {
		t.Fatalf("of the env step %+v is kept", m.World.Half)
	}
	if n := m.Observed.log.Len(); n != before+1 { // the copy with the lost episode begins another one
		t.Fatalf("%d frames after half a step, want %d", n, before+1)
	}
	half, sections := m.Saved(false), map[string]*bytes.Buffer{}
	for _, s := range m.Sections() {
		sections[s.Name] = new(bytes.Buffer)
		if err := s.Part.Save(sections[s.Name]); err != nil {
			t.Fatal(err)
		}
	}
	other := begin(tiny.Task())
	if err := other.Restore(half, c.Knobs.Relevance); err != nil {
		t.Fatal(err)
	}
	for _, s := range other.Sections() {
		if err := s.Part.Load(sections[s.Name]); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	(*made[m])[1] = (*made[m])[3] // in the place of the one that failed
	for _, r := range []*Replica{m, other} {
		if err := r.EnvStep(now); err != nil {
			t.Fatal(err)
		}
		if n := r.Observed.log.Len(); n != before+1+3 {
			t.Errorf("%d frames after the whole step, want %d", n, before+1+3)
		}
		shown := make([]byte, m.World.FrameSize())
		for i, stack := range r.seen() {
			if err := (*made[r])[i].Frame(shown, r.sight.side); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stack[len(stack)-1], shown) || !bytes.Equal(r.World.Frame(i), shown) {
				t.Errorf("the newest frame of copy %d is not what it looks like", i)
			}
		}
	}
	half.State.Half.Frames = half.State.Half.Frames[1:]
	if begin(tiny.Task()).Restore(half, c.Knobs.Relevance) == nil {
		t.Error("half a step with frames of another size is let pass")
	}
}
