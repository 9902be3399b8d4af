package relevance

import (
	"slices"
	"strings"
	"testing"

	"pgrlab/core/replay"
)

// F of a respawn is 0, unless the settings treat it like any other transition. Among the scores that
// a generator is fitted to it has that of another one: it would be what guidance leads away from.
func TestFOfRespawns(t *testing.T) {
	for _, respawns := range []string{RespawnsMasked, "", RespawnsUsed} {
		icm, rnd := smallICM(ResidualShared), smallRND()
		icm.Respawns, rnd.Respawns = Respawns{respawns}, Respawns{respawns}
		for _, f := range []Function{newICM(t, icm), newRND(t, rnd)} {
			b, plain, got := replay.NewBatch(three, 7), make([]float32, 7), make([]float32, 7)
			fillBatch(b, 2)
			if err := f.Score(plain, b, 7); err != nil {
				t.Fatal(err)
			}
			b.Notes = make([]replay.Note, 7)
			b.Notes[1].Respawned, b.Notes[5].Respawned = true, true
			if err := f.Score(got, b, 7); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				want := plain[i]
				if b.Notes[i].Respawned && respawns != RespawnsUsed {
					want = 0
				}
				if v != want || plain[i] == 0 {
					t.Errorf("%s, respawns %q, row %d: F is %v, want %v", f.Name(), respawns, i, v, want)
				}
			}
			if respawns != RespawnsUsed {
				others := slices.Concat(plain[:1], plain[2:5], plain[6:])
				plain[1], plain[5] = others[replay.OneOf(0, 0, 5)], others[replay.OneOf(1, 0, 5)]
			}
			if got = Judge(f, got, func(i int) replay.Note { return b.Notes[i] }); !slices.Equal(got, plain) {
				t.Errorf("%s, respawns %q: completed F is %v, want %v", f.Name(), respawns, got, plain)
			}
		}
	}
	for _, c := range []Config{ICMConfig{Hidden: 1, ScoreRows: 1, Batch: 2, Residual: ResidualShared, LR: 1, Momentum: 1, Respawns: Respawns{"some"}},
		RNDConfig{Hidden: 1, Features: 1, ScoreRows: 1, Batch: 1, LR: 1, Respawns: Respawns{"some"}}} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `respawns is "some", want "masked" or "used"`) {
			t.Errorf("%v", err)
		}
	}
}
