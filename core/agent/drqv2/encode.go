package drqv2

import (
	"errors"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// encodeRows is how many rows of D_real are encoded in about the time that an update takes
// for one row.
const encodeRows = 4

// startEncode clears D_real. A unit is a row of the new one.
func (l *Latent) startEncode(w *agent.Work) (total int, err error) {
	from := w.Source
	if from.Frames == nil {
		return 0, errors.New("agent: latents of frames, but the task is not observed by frames")
	}
	l.store.Retake()
	from.Real.Clear()
	l.encoded = from.Frames.Windows(l.config.NStep, l.config.Pixels.Stack, from.Real.Cap())
	return l.encoded.Len(), nil
}

// encodeSlice builds rows that follow those of D_real, without the shifts of training.
// Each stack is encoded once, even if it is the s′ of one row and the s of another. It does nothing
// where other members of the cohort have more rows.
func (l *Latent) encodeSlice(w *agent.Work, _ int) (n int, _ []agent.UpdateResult, err error) {
	at := w.Source.Real.Len()
	if n = min(encodeRows*l.config.Slice, l.encoded.Len()-at); n <= 0 {
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
