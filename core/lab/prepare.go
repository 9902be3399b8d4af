package lab

import (
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
)

// Prepare compiles what the run will use, so that a device with memory of its own allocates that
// memory before the run begins. It returns remarks on that for the user, or a
// *device.OutOfMemory. On the CPU, programs are compiled when they are first used. Prepare must
// be called before Run.
func (l *Lab) Prepare() (said []string, err error) {
	x := l.x
	for _, m := range x.members {
		a, ok := m.Agent.(agent.Preparer)
		if !ok {
			continue
		}
		size, fused := m.SourceSize(&x.Settings), x.first().Fused()
		uses := agent.Uses{Source: size, Copies: x.config.Environment.InLockstep(), Evaluated: x.config.Evaluation.Episodes, Probed: x.config.Evaluation.DormantStates}
		for _, samples := range []int{0, x.Settings.Samples} {
			uses.Mixes = append(uses.Mixes, x.config.Mix(&x.Settings, samples))
		}
		if err := a.Prepare(uses); err != nil {
			return nil, fmt.Errorf("prepare the agent: %w", err)
		}
		if fused && !x.first().Fused() && m.Index == 0 {
			said = append(said, fmt.Sprintf("batches are sampled by the host: there is no memory for %s transitions", knob.FormatCount(size.Real+size.Synthetic)))
		}
		g, ok := m.Generator.(interface {
			Prepare(generative.GenKnobs) (int, error)
		})
		if !ok {
			continue
		}
		chunk, err := g.Prepare(x.Settings.Generation())
		if err != nil {
			return nil, fmt.Errorf("prepare the generator: %w", err)
		}
		if full := x.config.Generator.Chunk; chunk < full && m.Index == 0 {
			said = append(said, fmt.Sprintf("chunks of %s transitions instead of %s: there is no memory for more", knob.FormatCount(chunk), knob.FormatCount(full)))
		}
	}
	return said, nil
}
