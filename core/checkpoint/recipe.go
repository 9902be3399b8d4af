package checkpoint

import (
	"bytes"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// Recipes returns, of a checkpoint that has D_syn itself, what Lean would have saved instead: by the names
// of the data that they replace. There are none if D_syn cannot be made again from the checkpoint, as after
// a later fit, while a fit or a generation is under way, or where Lean saves D_syn too.
func Recipes(c *config.Config, ck *run.Checkpoint) (map[string][]byte, error) {
	content, _ := ck.Section(SectionLoop)
	s, err := ReadLoop(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	made, at := s.Loop.Asked, s.Position
	working := at.Phase == knob.Generate || at.Phase == knob.Fit
	if !made.Known || made.OtherSeed || working || s.Loop.Next != 0 || !replica.Remakes(c) {
		return nil, nil
	}
	all := map[string][]byte{}
	for k := range s.Members {
		m := &replica.Replica{Index: k}
		generator, has := ck.Section(m.Named(replica.SectionGenerator))
		for _, d := range ck.Data {
			if d.Name != m.Named(replica.SectionSynthetic) || !has || len(d.Pieces) != 1 || s.Members[k].Fresh > 0 {
				continue
			}
			var b bytes.Buffer
			spec := replica.RebuildSpec{Knobs: made.Knobs, Occasion: made.Occasion, Generator: generator, SHA256: d.Pieces[0].SHA256}
			if err := spec.Save(&b); err != nil {
				return nil, err
			}
			all[d.Name] = b.Bytes()
		}
	}
	return all, nil
}
