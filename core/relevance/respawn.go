package relevance

import (
	"fmt"

	"pgrlab/core/replay"
)

// The choices of Respawns.
const (
	// RespawnsMasked leaves transitions that no action leads to out of learning, and sets their F
	// to 0, for a bonus. For a generator's conditions it is unknown: see Judge.
	RespawnsMasked = "masked"
	// RespawnsUsed treats them like any other transition, as google-research/episodic-curiosity
	// does in third_party/baselines/ppo2/ppo2.py.
	RespawnsUsed = "used"
)

// Respawns is how a function treats respawns, the transitions whose note says that the environment
// put the agent elsewhere. It does not affect other transitions.
type Respawns struct {
	Respawns string `toml:"-"` // "masked" (also if empty) or "used"
}

func (r Respawns) validate(name string) error {
	if r.Respawns != "" && r.Respawns != RespawnsMasked && r.Respawns != RespawnsUsed {
		return fmt.Errorf("%s: respawns is %q, want %q or %q", name, r.Respawns, RespawnsMasked, RespawnsUsed)
	}
	return nil
}

// SkipsRespawns reports whether the function ignores respawns.
func (r Respawns) SkipsRespawns() bool { return r.Respawns != RespawnsUsed }

// SkipsRespawns reports whether F of respawns is unknown, see Judge.
func (m *ICM) SkipsRespawns() bool { return m.config.SkipsRespawns() }

// SkipsRespawns reports whether F of respawns is unknown, see Judge.
func (m *FrameICM) SkipsRespawns() bool { return m.config.SkipsRespawns() }

// SkipsRespawns reports whether F of respawns is unknown, see Judge.
func (m *RND) SkipsRespawns() bool { return m.config.SkipsRespawns() }

// SkipsRespawns reports whether F of respawns is unknown, see Judge.
func (m *FrameRND) SkipsRespawns() bool { return m.config.SkipsRespawns() }

// mask sets F of the respawns among the first rows of b to 0, if the function ignores respawns.
func (r Respawns) mask(dst []float32, b *replay.Batch, rows int) {
	if !r.SkipsRespawns() || b.Notes == nil {
		return
	}
	for i, n := range b.Notes[:rows] {
		if n.Respawned {
			dst[i] = 0
		}
	}
}
