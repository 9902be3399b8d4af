package source

import (
	"errors"
	"fmt"
	"io"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// Judge are the environments in which a policy is evaluated, one for each episode, in lockstep.
type Judge struct {
	Config     // Copies is the number of episodes
	Stack  int // frames of an observation
	host   Host
	env    task.VecEnv

	televise func(tv string) error
	draw     func(dst []byte, side int) error
	explored func(copy int) (goals, cells int, moved, onSpot float64)

	// What is seen; nil if no frames are.
	frames []byte // [n,size], the newest
	stacks [][][]byte
}

// NewJudge makes the environments. It must be closed.
func NewJudge(c Config, stack int, host Host) (*Judge, error) {
	j := &Judge{Config: c, Stack: stack, host: host}
	if err := j.start(); err != nil {
		return nil, fmt.Errorf("start %s for evaluation: %w", c.Name, err)
	}
	return j, nil
}

// start makes the environments and finds out what they can do.
func (j *Judge) start() error {
	env, err := j.Task.NewVec(j.Copies, j.Seed)
	if err != nil {
		return err
	}
	j.env, j.televise, j.draw, j.explored = env, nil, nil, nil
	if e, can := env.(task.Televised); can {
		j.televise = e.Televise
	}
	if e, can := env.(task.SeenVec); can {
		j.draw = e.Frames
	}
	if e, can := env.(task.ExploredVec); can {
		j.explored = e.ExplorationOf
	}
	return nil
}

// Size is the number of episodes.
func (j *Judge) Size() int { return j.env.Size() }

// ObsSize is the number of numbers in an observation.
func (j *Judge) ObsSize() int { return j.env.ObsSize() }

// ActSize is the number of numbers in an action.
func (j *Judge) ActSize() int { return j.env.ActSize() }

// Look makes room for what is seen, for an evaluation that begins or is continued. It is an error if frames are
// seen and the environments cannot be drawn.
func (j *Judge) Look() (stacks [][][]byte, err error) {
	if j.Side == 0 {
		return nil, nil
	}
	if j.draw == nil {
		return nil, errUnseen
	}
	n, size := j.Size(), j.FrameSize()
	j.frames, j.stacks = make([]byte, n*size), NewStacks(n, j.Stack)
	for _, stack := range j.stacks {
		for k := range stack {
			stack[k] = make([]byte, size)
		}
	}
	return j.stacks, nil
}

// NewStacks returns n stacks of that many frames, without the frames.
func NewStacks(n, depth int) [][][]byte {
	all := make([][][]byte, n)
	for i := range all {
		all[i] = make([][]byte, depth)
	}
	return all
}

// Begin begins the episodes of evaluation number: the same starts in all runs.
func (j *Judge) Begin(number uint64, tv string, obs []float32) error {
	if j.televise != nil && tv != "" {
		if err := j.televise(tv); err != nil {
			return err
		}
	}
	if err := j.env.Reset(number, obs); err != nil {
		return j.replace(fmt.Errorf("reset: %w", err))
	}
	return j.see(j.fill)
}

// ErrNotRepeated says that an episode that had been saved cannot be taken up again.
var ErrNotRepeated = errors.New("a saved episode cannot be repeated")

// Step makes a step of all episodes; one that is over stays as it is. After ErrNotRepeated, which the host
// has a note of, all have to begin again.
func (j *Judge) Step(actions, obs []float32, rewards []float64, ended []bool) error {
	if err := j.env.Step(actions, obs, rewards, ended); err != nil {
		if !tolerates(j.host, err) {
			return j.replace(err)
		}
		var saved interface{ NotRepeated() bool }
		if errors.As(err, &saved) && saved.NotRepeated() {
			return ErrNotRepeated
		}
	}
	return j.see(j.push)
}

// see draws the environments, if frames are seen, and passes the frames on.
func (j *Judge) see(take func()) error {
	if j.Side == 0 {
		return nil
	}
	if err := j.draw(j.frames, j.Side); err != nil {
		return j.replace(fmt.Errorf("draw: %w", err))
	}
	take()
	return nil
}

// fill makes the newest frames all that is seen.
func (j *Judge) fill() {
	for i, stack := range j.stacks {
		for _, frame := range stack {
			copy(frame, j.frames[i*j.FrameSize():])
		}
	}
}

// push puts the newest frames in the places of the oldest.
func (j *Judge) push() {
	for i, stack := range j.stacks {
		oldest := stack[0]
		copy(stack, stack[1:])
		stack[len(stack)-1] = oldest
		copy(oldest, j.frames[i*j.FrameSize():])
	}
}

// replace handles an error of the environments, which are made again.
func (j *Judge) replace(err error) error {
	j.host.Fault("evaluate", err)
	old := j.env
	if j.start() == nil { // else the next evaluation fails as this one did
		old.Close() // it had failed: its error does not matter
	}
	return ErrEnvironment
}

// Explored returns how the episodes went, on average; nil if the environments do not say.
func (j *Judge) Explored() *event.Explored {
	if j.explored == nil {
		return nil
	}
	sum, of := event.Explored{OnSpot: new(run.Float)}, run.Float(j.Size())
	for i := range j.Size() {
		goals, cells, moved, onSpot := j.explored(i)
		sum.Goals += run.Float(goals) / of
		sum.Cells += run.Float(cells) / of
		sum.Moved += run.Float(moved) / of
		*sum.OnSpot += run.Float(onSpot) / of
	}
	return &sum
}

// Seen returns the bytes of all stacks, for a checkpoint.
func (j *Judge) Seen() (all []byte) {
	for _, stack := range j.stacks {
		for _, frame := range stack {
			all = append(all, frame...)
		}
	}
	return all
}

// RestoreSeen takes what Seen returned, after Look.
func (j *Judge) RestoreSeen(all []byte) error {
	if want := len(j.stacks) * j.Stack * j.FrameSize(); len(all) != want {
		return fmt.Errorf("an evaluation that sees %d bytes is saved, the run's sees %d", len(all), want)
	}
	for _, stack := range j.stacks {
		for _, frame := range stack {
			all = all[copy(frame, all):]
		}
	}
	return nil
}

// Save writes the state of the environments.
func (j *Judge) Save(w io.Writer) error { return j.env.Save(w) }

// Load reads what Save wrote.
func (j *Judge) Load(r io.Reader) error { return j.env.Load(r) }

// Close releases the environments.
func (j *Judge) Close() error { return j.env.Close() }
