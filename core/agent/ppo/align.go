package ppo

import (
	"fmt"
	"io"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/agent/align"
	"pgrlab/core/experience"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// aligned keeps generated latents up to date. It maps latents of the trunk that D_real was made
// with to those of the trunk at the beginning of the iteration (begun), whose heads judge them,
// and to those of the present trunk (now), whose heads learn from them.
type aligned struct {
	begun, now *align.Map
	obs        []experience.Ref // of n rows of D_real, pinned
	then       []float32        // [n,H], the trunk's output for obs when D_real was made
	newest     []float32        // [n,H], the trunk's output for obs at the last alignment
	tensors    []*op.Tensor
}

func newAligned(c Config) *aligned {
	size := c.latents().Obs
	a := &aligned{begun: align.New("latents begun", size), now: align.New("latents now", size)}
	a.tensors = append(a.begun.Params(), a.now.Params()...)
	return a
}

// params returns the tensors of both maps, in the order of a file.
func (a *aligned) params() []*op.Tensor { return a.tensors }

// resetAligned makes both maps the identity: D_real is of the present trunk.
func (l *Latent) resetAligned() error {
	a := l.aligned
	a.begun.Reset()
	a.now.Reset()
	for _, at := range a.obs {
		l.rollout.Log.Unpin(at)
	}
	a.obs, a.then = a.obs[:0], a.then[:0]
	return plan.Push(l.dev, a.params()...)
}

// watch keeps rows of D_real to align by, spread evenly over its total rows and over the copies of
// the environment (replay.OneOf). rows are those that follow the first done ones.
func (l *Latent) watch(rows []experience.Met, z []float32, done, total int) {
	a, n, size := l.aligned, min(l.config.AlignRows, total), l.config.latents().Obs
	for i, row := range rows {
		if kept := len(a.then) / size; kept < n && done+i == replay.OneOf(kept, kept*total/n, (kept+1)*total/n) {
			at := row.After.Before()
			l.rollout.Log.Pin(at)
			a.obs = append(a.obs, at)
			a.then = append(a.then, z[i*size:(i+1)*size]...)
		}
	}
}

// align fits the maps before an epoch if there are generated rows, and enough rows to fit by.
func (l *Latent) align(w *agent.Work, epoch int) error {
	a, syn := l.aligned, w.Source.Synthetic
	rows := len(a.then) / l.config.latents().Obs
	if syn == nil || syn.Len() == 0 || rows < a.now.LeastRows() {
		return nil
	}
	var err error
	if a.newest, err = l.encode(a.newest, rows, l.aligning); err != nil {
		return err
	}
	if err := a.now.Fit(a.then, a.newest); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if epoch == 0 {
		copy(a.begun.W.Data, a.now.W.Data)
		copy(a.begun.B.Data, a.now.B.Data)
	}
	return plan.Push(l.dev, a.params()...)
}

// Reencode returns the latents of the rows to align by as D_real has them, those of the present
// trunk, and what the heads learn from instead of the first.
func (l *Latent) Reencode() (then, now, aligned []float32, err error) {
	a := l.aligned
	rows := len(a.then) / a.now.Size()
	if rows == 0 {
		return nil, nil, nil, nil
	}
	now, err = l.encode(nil, rows, l.aligning)
	return slices.Clone(a.then), now, l.estimate(a.then), err
}

// aligning returns observation i of those to align by.
func (l *Latent) aligning(i int) experience.Look {
	seen, _ := l.rollout.Log.Look(l.aligned.obs[i])
	return seen
}

// loadAligned reads that many rows to align by, and the maps.
func (l *Latent) loadAligned(r io.Reader, rows int64) error {
	a := l.aligned
	if rows > int64(l.config.AlignRows) {
		return fmt.Errorf("%d rows to align by are saved, want at most %d", rows, l.config.AlignRows)
	}
	a.obs, a.then = make([]experience.Ref, rows), make([]float32, int(rows)*l.config.latents().Obs)
	if err := plan.LoadAll(r, a.obs, a.then, plan.Tensors{Device: l.dev, Of: a.params()}); err != nil {
		return err
	}
	for _, at := range a.obs {
		if l.rollout.Log != nil {
			l.rollout.Log.Pin(at)
		}
	}
	return nil
}
