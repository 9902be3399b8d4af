package relevance

import (
	"slices"
	"testing"

	"pgrlab/core/replay"
)

// F of a respawn is 0. Among the scores that a generator is fitted to it has that of another one: it
// would be what guidance leads away from.
func TestFOfRespawns(t *testing.T) {
	for _, f := range []Function{newICM(t, smallICM()), newRND(t, smallRND())} {
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
			if b.Notes[i].Respawned {
				want = 0
			}
			if v != want || plain[i] == 0 {
				t.Errorf("%s, row %d: F is %v, want %v", f.Name(), i, v, want)
			}
		}
		others := slices.Concat(plain[:1], plain[2:5], plain[6:])
		plain[1], plain[5] = others[replay.OneOf(0, 0, 5)], others[replay.OneOf(1, 0, 5)]
		if got = Of(f).Judge(got, func(i int) replay.Note { return b.Notes[i] }); !slices.Equal(got, plain) {
			t.Errorf("%s: completed F is %v, want %v", f.Name(), got, plain)
		}
	}
}
