package replica

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/tiny"
)

// parted is a model whose updates have three parts, of which one fails.
type parted struct {
	relevance.Parted
	batch *replay.Batch
	fails int   // which call of TrainPart, from 0 on
	made  []int // the done of each call
	whole int   // updates made to their end
}

func (p *parted) Batch() *replay.Batch { return p.batch }
func (p *parted) Parts() int           { return 3 }

func (p *parted) TrainPart(done int) (loss float64, err error) {
	p.made = append(p.made, done)
	switch {
	case len(p.made)-1 == p.fails:
		return 0, errors.New("it diverges")
	case done < 2:
		return math.NaN(), nil
	}
	p.whole++
	return 1, nil
}

// tolerant is a host that goes on after every error.
type tolerant struct{ recorder }

func (*tolerant) Diverged(int, string, error) error { return nil }

// An update of a warm-up that ends early, with an error that the run goes on from, takes its other
// parts with it: those that follow are of the next update, and none is left half made.
func TestAWarmUpGoesOnAfterAnUpdateThatFails(t *testing.T) {
	for fails, want := range map[int][]int{
		-1: {0, 1, 2, 0, 1, 2, 0, 1, 2}, 0: {0, 0, 1, 2, 0, 1, 2}, 1: {0, 1, 0, 1, 2, 0, 1, 2}, 4: {0, 1, 2, 0, 1, 0, 1, 2}, 5: {0, 1, 2, 0, 1, 2, 0, 1, 2},
	} {
		m, now := newReplica(t, tiny.Config())
		train(t, m, now.Settings, 1, 4)
		m.Host = &tolerant{}
		p := &parted{batch: replay.NewBatch(tinyShape, 2), fails: fails}
		m.Functions.built["curiosity"] = relevance.Of(p)
		*m.stateOf("curiosity") = modelState{Name: "curiosity", Missed: 3}
		owed := m.Functions.Owed("curiosity", 0)
		for done := 0; done < owed; {
			n, err := m.Functions.Warm("curiosity", done, owed, 0)
			if err != nil {
				t.Fatal(err)
			}
			done += n
		}
		whole := 3
		if fails >= 0 {
			whole--
		}
		if s := *m.stateOf("curiosity"); !slices.Equal(p.made, want) || p.whole != whole || s.Updates != 3 || s.Missed != 0 || s.Made != 0 {
			t.Errorf("call %d fails: parts %v, %d whole updates, %+v", fails, p.made, p.whole, s)
		}
	}
}

// No relevance function samples from another stream of the replica.
func TestModelsHaveStreamsOfTheirOwn(t *testing.T) {
	s := newStreams(7)
	own := []rng.Stream{s.explore, s.replay, s.dormant, s.scores, s.preview}
	for _, name := range relevance.Names() {
		if slices.Contains(own, s.models.Sub(name)) {
			t.Errorf("relevance %s samples from another stream of the replica", name)
		}
	}
}
