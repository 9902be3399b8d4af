package replica

import (
	"errors"
	"fmt"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/task"
)

// sight holds what a replica sees if its learner sees frames.
type sight struct {
	side, stack int
	sampler     agent.Frames
	probes      agent.Frames // for the dormant ratio
	stacks      [][][]byte   // of each copy, for the next actions
	next        []byte       // [K,size], after the env step
	// Each copy's newest frame before and after the env step, for an agent.Observer.
	before, behind [][]byte
}

// newSight makes the memory of a replica's frames.
func (r *Replica) newSight() (*sight, error) {
	copies, p := len(r.envs), r.Config.Pixels
	s := &sight{side: p.Side, stack: p.Stack}
	s.sampler, s.probes = r.Observed.frames(r.streams.replay), r.Observed.frames(r.streams.dormant)
	s.stacks, s.next = newStacks(copies, s.stack), make([]byte, copies*s.size())
	return s, nil
}

func newStacks(n, depth int) [][][]byte {
	all := make([][][]byte, n)
	for i := range all {
		all[i] = make([][]byte, depth)
	}
	return all
}

// size is how many bytes a frame has.
func (s *sight) size() int { return s.side * s.side * agent.Colours }

// nextOf is the frame of copy i after the env step.
func (s *sight) nextOf(i int) []byte { return s.next[i*s.size() : (i+1)*s.size()] }

var errUnseen = errors.New("its environment cannot be drawn")

// look draws copy i as it is after its env step or at the beginning of its episode.
func (r *Replica) look(i int) error {
	if r.sight == nil {
		return nil
	}
	env, seen := r.envs[i].env.(task.Seen)
	if !seen {
		return errUnseen
	}
	return env.Frame(r.sight.nextOf(i), r.sight.side)
}

// open takes the first look of copy i's episode.
func (r *Replica) open(i int) error {
	if err := r.look(i); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	if r.Observed.log != nil {
		r.Observed.log.Begin(i, r.Observed.look(r.Obs, i))
	}
	return nil
}

// pass returns each copy's newest frame before the env step, which the policy acted on, and the
// one after it.
func (s *sight) pass() (before, behind [][]byte) {
	if s.before == nil {
		s.before, s.behind = make([][]byte, len(s.stacks)), make([][]byte, len(s.stacks))
	}
	for i, stack := range s.stacks {
		s.before[i], s.behind[i] = stack[len(stack)-1], s.nextOf(i)
	}
	return s.before, s.behind
}

// seen returns the stacks for which the next actions are chosen; nil if the learner sees no
// frames.
func (r *Replica) seen() [][][]byte {
	if r.sight == nil {
		return nil
	}
	for i, stack := range r.sight.stacks {
		r.Observed.log.Newest(i, stack)
	}
	return r.sight.stacks
}

// Looks returns copies of the frames for which r's first copy chooses its next action, the
// newest last, and their side. There are none if the learner sees no frames, or before it has
// acted.
func Looks(r *Replica) (stack [][]byte, side int) {
	if r.sight == nil || r.Stepped == 0 {
		return nil, 0
	}
	stack = make([][]byte, r.sight.stack)
	r.Observed.log.Newest(0, stack)
	for i := range stack {
		stack[i] = slices.Clone(stack[i])
	}
	return stack, r.sight.side
}

// Frames returns what batches of frames are drawn from, and what D_real was made from if the
// learner has filled it (see agent.Encoder); nil if there are no frames.
func (r *Replica) Frames() agent.Frames {
	if r.sight == nil {
		return nil
	}
	return r.sight.sampler
}

// depth is how many frames an observation has; 0 if none are seen.
func (s *sight) depth() int {
	if s == nil {
		return 0
	}
	return s.stack
}

// recalled finds what the learner made the rows of D_real from.
type recalled struct{ *Replica }

// Seen implements replay.Sight.
func (r recalled) Seen(dst *replay.FrameRow, slot int) error {
	learner, encodes := r.Agent.(agent.Encoder)
	if !encodes {
		return replay.ErrUnseen
	}
	return learner.Recall(dst, r.Frames(), slot)
}

// metBy returns the transitions that a trained model learns from: D_real, or the transitions of
// the environment that D_real is made from.
func metBy(r *Replica, name string) replay.Rows {
	learner, keeps := r.Agent.(agent.Rememberer)
	if keeps && relevance.LearnsFromMet(r.models[name]) {
		return learner.Met()
	}
	return r.Real
}

// fill fills the batch of a model that learns from frames, with single env steps of all that
// from draws from, the newest ones included.
func fill(b *replay.Batch, from experience.Frames, update uint64) error {
	b.Unseen = nil
	for i := range b.Frames {
		if err := from.Draw(&b.Frames[i], 1, 0, update, i); err != nil {
			return fmt.Errorf("train a model: %w", err)
		}
	}
	return nil
}

// probed returns the policy's layers on that many real states; none if the policy does not show
// any.
func (r *Replica) probed(number uint64, rows int) ([]agent.Layer, error) {
	if r.sight != nil {
		if r.Stepped == 0 {
			return nil, nil
		}
		return r.sight.probed(r.Agent, number, rows)
	}
	if r.Real.Len() == 0 {
		return nil, nil // the learner has not filled it yet
	}
	size := r.Real.Shape().Obs
	obs := make([]float32, rows*size)
	q := r.streams.dormant.At(number)
	for i := range rows {
		copy(obs[i*size:(i+1)*size], r.Real.Row(q.IntN(r.Real.Len()))[:size])
	}
	return r.Agent.Activations(obs, rows)
}

// probed returns a policy's layers on that many stacks of frames.
func (s *sight) probed(policy agent.Learner, number uint64, rows int) ([]agent.Layer, error) {
	learner, sighted := policy.(agent.Sighted)
	if !sighted {
		return nil, nil
	}
	stacks, row := newStacks(rows, s.stack), replay.FrameRow{Next: make([][]byte, s.stack)}
	for i := range stacks {
		row.Stack = stacks[i]
		if err := s.probes.Draw(&row, 1, 0, number, i); err != nil {
			return nil, err
		}
	}
	return learner.ActivationsOf(stacks)
}

// watching holds what an evaluation sees of its copies.
type watching struct {
	env    task.SeenVec
	side   int
	size   int
	frames []byte // [n,size], the newest
	stacks [][][]byte
}

// watch returns what an evaluation sees; nil if its learner sees no frames.
func (r *Replica) watch() (*watching, error) {
	if r.sight == nil {
		return nil, nil
	}
	env, seen := r.evalEnv.(task.SeenVec)
	if !seen {
		return nil, errUnseen
	}
	n := r.evalEnv.Size()
	w := &watching{env: env, side: r.sight.side, size: r.sight.size(), stacks: newStacks(n, r.sight.stack)}
	w.frames = make([]byte, n*w.size)
	for _, stack := range w.stacks {
		for k := range stack {
			stack[k] = make([]byte, w.size)
		}
	}
	return w, nil
}

// begin takes the first frames of the episodes.
func (w *watching) begin() error {
	if err := w.env.Frames(w.frames, w.side); err != nil {
		return err
	}
	for i, stack := range w.stacks {
		for _, frame := range stack {
			copy(frame, w.frames[i*w.size:])
		}
	}
	return nil
}

// next takes the frames that followed a step; a copy whose episode is over looks as it did
// before.
func (w *watching) next() error {
	if err := w.env.Frames(w.frames, w.side); err != nil {
		return err
	}
	for i, stack := range w.stacks {
		oldest := stack[0]
		copy(stack, stack[1:])
		stack[len(stack)-1] = oldest
		copy(oldest, w.frames[i*w.size:])
	}
	return nil
}

// saved returns the bytes of all stacks.
func (w *watching) saved() (all []byte) {
	if w == nil {
		return nil
	}
	for _, stack := range w.stacks {
		all = append(all, slices.Concat(stack...)...)
	}
	return all
}

// restore takes what saved returned.
func (w *watching) restore(all []byte) error {
	want := 0
	if w != nil {
		want = len(w.stacks) * len(w.stacks[0]) * w.size
	}
	if len(all) != want {
		return fmt.Errorf("an evaluation that sees %d bytes is saved, the run's sees %d", len(all), want)
	}
	if w == nil {
		return nil
	}
	for _, stack := range w.stacks {
		for _, frame := range stack {
			all = all[copy(frame, all):]
		}
	}
	return nil
}
