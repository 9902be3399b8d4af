package relevance

import "pgrlab/core/replay"

// skipsRespawns is a function, or its Config, that learns nothing from respawns: transitions whose note
// says that the environment put the agent elsewhere. F of them is 0, for a bonus; for a generator's
// conditions it is unknown: see Judge. (google-research/episodic-curiosity treats them like any other
// transition: third_party/baselines/ppo2/ppo2.py.)
type skipsRespawns interface{ skipsRespawns() }

func (ICMConfig) skipsRespawns() {}
func (RNDConfig) skipsRespawns() {}
func (*ICM) skipsRespawns()      {}
func (*FrameICM) skipsRespawns() {}
func (*RND) skipsRespawns()      {}
func (*FrameRND) skipsRespawns() {}

// SkipsRespawns reports whether the function of that name learns nothing from respawns.
func (c Configs) SkipsRespawns(name string) bool {
	_, skips := c.Of(name).(skipsRespawns)
	return skips
}

// maskRespawns sets F of the respawns among the first rows of b to 0.
func maskRespawns(dst []float32, b *replay.Batch, rows int) {
	if b.Notes == nil {
		return
	}
	for i, n := range b.Notes[:rows] {
		if n.Respawned {
			dst[i] = 0
		}
	}
}
