package inspect

import (
	"pgrlab/core/analysis"
	"pgrlab/core/run"
)

// Joint holds the generations of two runs, or of one run at two positions, in one plane: the
// plane of their largest variance (PCA, each dimension in units of its deviation).
type Joint struct {
	Runs      [2]JointRun  `json:"runs"`
	Explained [2]run.Float `json:"explained"` // share of the variance along each axis
	Overlap   run.Float    `json:"overlap"`   // of the two clouds: 1 equal, 0 apart, see analysis.Overlap
	// Embedded holds the first MaxEmbedded generations of each run by t-SNE; nil: not asked for.
	Embedded *[2][][2]run.Float `json:"tsne,omitempty"`
}

// JointRun is one of the two runs.
type JointRun struct {
	Dir    string         `json:"dir"`
	Method string         `json:"method"`
	Seed   uint64         `json:"seed"`
	Step   int            `json:"step"`
	Points [][2]run.Float `json:"points"`
}

// Together projects clouds of transitions of two runs of the same task into one plane and
// fills out, in which the runs are already named; embed asks for t-SNE as well.
func Together(clouds [2][][]float32, embed bool, out *Joint) error {
	width := len(clouds[0][0]) - 1
	all := append(append([][]float32(nil), clouds[0]...), clouds[1]...)
	plane, err := analysis.PCA(all, width, atOnce)
	if err != nil {
		return err
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
		return nil
	}
	a, b := clouds[0][:min(len(clouds[0]), MaxEmbedded)], clouds[1][:min(len(clouds[1]), MaxEmbedded)]
	places, err := analysis.Embed(append(append([][]float32(nil), a...), b...), width, atOnce)
	if err != nil {
		return err
	}
	out.Embedded = &[2][][2]run.Float{shown(places[:len(a)]), shown(places[len(a):])}
	return nil
}
