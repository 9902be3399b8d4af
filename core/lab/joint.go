package lab

import (
	"fmt"

	"pgrlab/core/analysis"
	"pgrlab/core/device"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// Joint are the generations of two runs, or of one at two places, in one plane: that
// in which all of them lie widest (PCA, each dimension in units of its deviation).
type Joint struct {
	Runs      [2]JointRun  `json:"runs"`
	Explained [2]run.Float `json:"explained"` // share of the variance along each axis
	Overlap   run.Float    `json:"overlap"`   // of the two clouds: 1 equal, 0 apart
	// Embedded are the first MostEmbedded generations of each by t-SNE; nil: not asked for.
	Embedded *[2][][2]run.Float `json:"tsne,omitempty"`
}

// JointRun is one of the two.
type JointRun struct {
	Dir    string         `json:"dir"`
	Method string         `json:"method"`
	Seed   uint64         `json:"seed"`
	Step   int            `json:"step"`
	Points [][2]run.Float `json:"points"`
}

// Together lays the synthetic transitions that two runs of the same task hold into one
// plane, at most rows of each; embed asks for t-SNE besides.
func Together(runs [2]Saved, task Task, dev device.Device, rows int, embed bool) (*Joint, error) {
	out := &Joint{}
	var clouds [2][][]float32
	for i, s := range runs {
		if s.Config.Task != runs[0].Config.Task {
			return nil, fmt.Errorf("analyse %s and %s: their tasks are %s and %s: want one", runs[0].Dir, s.Dir, runs[0].Config.Task, s.Config.Task)
		}
		var err error
		if clouds[i], err = s.generations(task, dev, rows, &out.Runs[i]); err != nil {
			return nil, err
		}
	}
	width := len(clouds[0][0]) - 1
	all := append(append([][]float32(nil), clouds[0]...), clouds[1]...)
	onward := func() error { return nil }
	plane, err := analysis.PCA(all, width, onward)
	if err != nil {
		return nil, fmt.Errorf("analyse %s and %s: %w", runs[0].Dir, runs[1].Dir, err)
	}
	var at [2][][2]float64
	for i, cloud := range clouds {
		for _, row := range cloud {
			at[i] = append(at[i], plane.At(row))
		}
		out.Runs[i].Points = shown(at[i])
		out.Explained[i] = run.Float(plane.Explained[i])
	}
	out.Overlap = run.Float(analysis.Overlap(at[0], at[1], 12))
	if !embed {
		return out, nil
	}
	a, b := clouds[0][:min(len(clouds[0]), MostEmbedded)], clouds[1][:min(len(clouds[1]), MostEmbedded)]
	places, err := analysis.Embed(append(append([][]float32(nil), a...), b...), width, onward)
	if err != nil {
		return nil, fmt.Errorf("analyse %s and %s: %w", runs[0].Dir, runs[1].Dir, err)
	}
	out.Embedded = &[2][][2]run.Float{shown(places[:len(a)]), shown(places[len(a):])}
	return out, nil
}

// generations are synthetic transitions of a saved run's first member.
func (s Saved) generations(task Task, dev device.Device, rows int, of *JointRun) (cloud [][]float32, err error) {
	l, err := s.open(task, dev)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	syn := l.x.first().synthetic
	if syn == nil || syn.Len() == 0 {
		return nil, fmt.Errorf("analyse %s: at step %s it has no synthetic transitions: want a method with a generator, and a step behind its first generation", s.Dir, knob.FormatCount(l.x.Step))
	}
	*of = JointRun{Dir: s.Dir, Method: s.Config.Method, Seed: s.Config.Seed, Step: l.x.Step}
	for i := range min(rows, syn.Len()) {
		cloud = append(cloud, append([]float32(nil), syn.Row(i)...))
	}
	return cloud, nil
}
