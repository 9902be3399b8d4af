package ppo

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/agent"
	"pgrlab/core/agent/align"
	"pgrlab/core/op"
	"pgrlab/core/plan"
)

// aligned keeps generated latents up to date: those of the trunk that D_real was made with become
// those of the trunk at the beginning of the iteration, whose heads judge them, and those of the
// present one, whose heads learn from them.
type aligned struct {
	begun, now *align.Map
	obs        []float32 // [n,O], of rows of D_real
	then       []float32 // [n,H], what the trunk said of them when D_real was made
}

func newAligned(c Config) *aligned {
	size := c.latents().Obs
	return &aligned{begun: align.New("latents begun", size), now: align.New("latents now", size)}
}

func (a *aligned) params() []*op.Tensor { return append(a.begun.Params(), a.now.Params()...) }

// reset makes the maps the identity: D_real is of the present trunk.
func (l *Latent) resetAligned() error {
	a := l.aligned
	a.begun.Reset()
	a.now.Reset()
	a.obs, a.then = a.obs[:0], a.then[:0]
	return plan.Push(l.dev, a.params()...)
}

// watch keeps rows of D_real to align by: those of total, done behind its first, that are spread
// evenly over it.
func (l *Latent) watch(rows [][]float32, z []float32, done, total int) {
	a, n := l.aligned, l.config.AlignRows
	if n == 0 {
		return
	}
	every, size := max(1, total/n), l.config.latents().Obs
	for i, row := range rows {
		if (done+i)%every == 0 && len(a.then) < n*size {
			a.obs = append(a.obs, row[:l.config.Shape.Obs]...)
			a.then = append(a.then, z[i*size:(i+1)*size]...)
		}
	}
}

// align fits the maps before an epoch, where there are generated rows and enough to fit them by.
func (l *Latent) align(w *agent.Work, epoch int) error {
	a, syn := l.aligned, w.Source.Synthetic
	rows := len(a.then) / l.config.latents().Obs
	if syn == nil || syn.Len() == 0 || rows < a.now.LeastRows() {
		return nil
	}
	if err := l.prepareEncoder(); err != nil {
		return err
	}
	now, o := make([]float32, 0, len(a.then)), l.config.Shape.Obs
	for first := 0; first < rows; first += l.config.valueRows() {
		n := min(l.config.valueRows(), rows-first)
		copy(l.encoder.obs, a.obs[first*o:(first+n)*o])
		z, err := l.encoded(n)
		if err != nil {
			return err
		}
		now = append(now, z...)
	}
	if err := a.now.Fit(a.then, now); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if epoch == 0 {
		copy(a.begun.W.Data, a.now.W.Data)
		copy(a.begun.B.Data, a.now.B.Data)
	}
	return plan.Push(l.dev, a.params()...)
}

func (l *Latent) saveAligned(w io.Writer) error {
	a := l.aligned
	if err := binary.Write(w, binary.LittleEndian, uint32(len(a.then)/l.config.latents().Obs)); err != nil {
		return err
	}
	for _, part := range [][]float32{a.obs, a.then} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return plan.Save(l.dev, w, a.params())
}

func (l *Latent) loadAligned(r io.Reader) error {
	a := l.aligned
	var rows uint32
	if err := binary.Read(r, binary.LittleEndian, &rows); err != nil {
		return err
	}
	if int64(rows) > int64(l.config.AlignRows) {
		return fmt.Errorf("%d rows to align by are saved, want at most %d", rows, l.config.AlignRows)
	}
	a.obs, a.then = make([]float32, int(rows)*l.config.Shape.Obs), make([]float32, int(rows)*l.config.latents().Obs)
	for _, part := range [][]float32{a.obs, a.then} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return plan.Load(l.dev, r, a.params())
}
