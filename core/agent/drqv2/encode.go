package drqv2

import (
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// encodeRows is how many rows of D_real are encoded in about the time that an update takes
// for one row.
const encodeRows = 4

// startEncode clears D_real, or only leaves what of it is as it will be: see kept. A unit is a row of
// the new D_real that is still to be made. Without a refit D_real stays, and a unit is one of its rows
// that is encoded again.
func (l *Latent) startEncode(w *agent.Work) (total int, err error) {
	from := w.Source
	if from.Frames == nil {
		return 0, errors.New("agent: latents of frames, but the task is not observed by frames")
	}
	if !w.Refit {
		l.alignment.pass = true
		return len(l.held(w)), nil
	}
	l.store.Retake()
	if l.alignment != nil {
		l.alignment.reset()
		if err := plan.Push(l.dev, l.alignment.Params()...); err != nil {
			return 0, fmt.Errorf("agent: %w", err)
		}
	}
	windows := from.Frames.Windows(l.config.NStep, l.config.Pixels.Stack, from.Real.Cap())
	kept := l.kept(from.Real, &windows)
	if kept == 0 {
		from.Real.Clear()
	}
	l.encoded, l.madeAt = windows, uint64(w.Step)
	return windows.Len() - kept, nil
}

// kept is how many rows of D_real are those that the first of windows would give: all of them, if
// encoder and trunks were frozen when they were made and nothing before them has been forgotten, or
// else 0. Rows of several copies of an environment lie between each other, so that theirs are made
// again.
func (l *Latent) kept(real *replay.Ring, windows *experience.Windows) int {
	if !l.config.Frozen(int(l.madeAt)) || real.Len() != l.encoded.Len() || !windows.Continues(&l.encoded) {
		return 0
	}
	return real.Len()
}

// encodeSlice builds rows that follow those of D_real, without the shifts of training.
// Each stack is encoded once, even if it is the s′ of one row and the s of another. It does nothing
// where other members of the cohort have more rows, or align their D_syn and this one does not.
func (l *Latent) encodeSlice(w *agent.Work, done int) (n int, _ []agent.UpdateResult, err error) {
	if l.alignment != nil && l.alignment.pass {
		n, err = l.alignSlice(w, done)
		return n, nil, err
	}
	at := w.Source.Real.Len()
	if n = min(encodeRows*l.config.Slice, l.encoded.Len()-at); !w.Refit || n <= 0 {
		return 0, nil, nil
	}
	rows := make([]replay.FrameRow, n)
	looks := stacksSeen{at: map[*byte]int{}}
	for i := range rows {
		r := &rows[i]
		*r = replay.FrameRow{Stack: make([][]byte, l.config.Pixels.Stack), Next: make([][]byte, l.config.Pixels.Stack)}
		if err := w.Source.Frames.Window(r, &l.encoded, at+i, l.config.Gamma); err != nil {
			return 0, nil, fmt.Errorf("agent: encode: %w", err)
		}
		looks.add(r.Stack)
		looks.add(r.Next)
	}
	z, err := l.Encode(looks.stacks)
	if err != nil {
		return 0, nil, err
	}
	size := l.config.latents().Obs
	of := func(stack [][]byte) []float32 { at := looks.index(stack); return z[at*size : (at+1)*size] }
	for _, r := range rows {
		w.Source.Real.Add(replay.Transition{Obs: of(r.Stack), Act: r.Action, Reward: r.Return, Next: of(r.Next), Done: r.Discount == 0})
	}
	return n, nil, nil
}

// stacksSeen holds stacks, each once. A stack is identified by its newest frame, which is the
// newest of no other stack.
type stacksSeen struct {
	stacks [][][]byte
	at     map[*byte]int
}

func (s *stacksSeen) index(stack [][]byte) int { return s.at[&stack[len(stack)-1][0]] }

func (s *stacksSeen) add(stack [][]byte) {
	newest := &stack[len(stack)-1][0]
	if _, known := s.at[newest]; !known {
		s.at[newest] = len(s.stacks)
		s.stacks = append(s.stacks, stack)
	}
}

// Encode returns the latents of stacks of frames, unshifted: T_c(h) and T_a(h) side by side,
// [stacks,2F].
func (l *Latent) Encode(stacks [][][]byte) (z []float32, err error) {
	e, err := l.encoder.Of(lookRows)
	if err != nil {
		return nil, err
	}
	z = make([]float32, len(stacks)*l.config.latents().Obs)
	err = e.Each(0, len(stacks), func(first, n int) {
		for i, stack := range stacks[first : first+n] {
			l.frames.StackBytes(l.image(e.In[0], i), stack, l.frames.Pad, l.frames.Pad)
		}
	}, z)
	if err != nil {
		return nil, fmt.Errorf("agent: encode: %w", err)
	}
	return z, nil
}

func (l *Latent) compileEncoder(rows int) (*plan.Blocks, error) {
	return plan.NewBlocks("encode", rows, l.dev, func(g *op.Graph) (in []*op.Node, spec plan.Spec) {
		images := g.Input("s", rows, op.Words(l.imageSize()))
		h := l.encode(g, images)
		spec.Outputs = []*op.Node{g.Concat(l.nets.critic.apply(g, h), l.nets.actor.apply(g, h))}
		return []*op.Node{images}, spec
	})
}
