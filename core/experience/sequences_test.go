package experience_test

import (
	"fmt"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/rng"
)

// Sequences are looks in a row with what led to them, each as likely as another, of the newest looks that
// the view sees, whatever the log holds beside them.
func TestSequences(t *testing.T) {
	for seed := range uint64(12) {
		w := newListed(seed)
		for range 5 + w.r.IntN(60) {
			w.step()
		}
		const length = 4
		most := 12 // of each copy
		s := experience.Sequences{Log: w.log, Looks: most * w.shape.Copies, Stream: rng.New(seed, "sequences")}
		want, drawn := 0, map[experience.Ref]int{}
		for c := range w.shape.Copies {
			held := 0
			for n := len(w.looks[c]) - 1; n >= 0; n-- {
				if _, is := w.log.Look(experience.Ref{Copy: int32(c), Number: uint64(n)}); is {
					held++
				}
			}
			want += max(0, min(held, most)-length+1)
		}
		if s.Len(length) != want {
			t.Fatalf("seed %d: %d sequences, want %d", seed, s.Len(length), want)
		}
		dst := experience.NewSequence(length)
		for row := range 100 * want {
			if err := s.Draw(dst, 3, row); err != nil {
				t.Fatal(err)
			}
			drawn[dst.From]++
			all := w.looks[dst.From.Copy]
			if dst.From.Number+uint64(most) < uint64(len(all)) {
				t.Fatalf("seed %d: a sequence from look %d of %d", seed, dst.From.Number, len(all))
			}
			for i, look := range dst.Looks {
				at := experience.Ref{Copy: dst.From.Copy, Number: dst.From.Number + uint64(i)}
				m, led := w.log.Met(at)
				if fmt.Sprint(look) != fmt.Sprint(all[at.Number]) || led && (dst.First[i] || dst.Ends[i] != m.End || dst.Rewards[i] != m.Observed || fmt.Sprint(dst.Actions[i]) != fmt.Sprint(m.Action)) {
					t.Fatalf("seed %d: look %d of %+v, want %v and %+v", seed, i, dst, all[at.Number], m)
				}
			}
		}
		if len(drawn) != want {
			t.Errorf("seed %d: %d of %d sequences were drawn", seed, len(drawn), want)
		}
		for at, n := range drawn {
			if n < 50 || n > 170 {
				t.Errorf("seed %d: the sequence from %+v was drawn %d times of %d", seed, at, n, 100*want)
			}
		}
		if n := testing.AllocsPerRun(10, func() { s.Draw(dst, 1, 1) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		if err := s.Draw(experience.NewSequence(13), 1, 1); err == nil {
			t.Error("a sequence of more looks than are seen was drawn")
		}
	}
}
