package relevance

import (
	"fmt"

	"pgrlab/core/replay"
)

// The choices of Respawns.
const (
	// RespawnsMasked leaves out of learning, and gives F = 0, what no action leads to.
	RespawnsMasked = "masked"
	// RespawnsUsed takes them like any other, as google-research/episodic-curiosity does in
	// third_party/baselines/ppo2/ppo2.py.
	RespawnsUsed = "used"
)

// Respawns is what a function makes of a transition whose agent was put where it is, as its note
// says. Of others it is as if it were not there.
type Respawns struct {
	Respawns string `toml:"respawns"` // "masked", as is the empty one, or "used"
}

func (r Respawns) validate(name string) error {
	if r.Respawns != "" && r.Respawns != RespawnsMasked && r.Respawns != RespawnsUsed {
		return fmt.Errorf("%s: respawns is %q, want %q or %q", name, r.Respawns, RespawnsMasked, RespawnsUsed)
	}
	return nil
}

// SkipsRespawns says whether the function has no part in them.
func (r Respawns) SkipsRespawns() bool { return r.Respawns != RespawnsUsed }

// mask makes F of the first rows of b 0 where it has no part in them.
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
