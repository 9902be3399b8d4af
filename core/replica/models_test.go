package replica

import (
	"bytes"
	"encoding/gob"
	"slices"
	"testing"

	"pgrlab/core/relevance"
	"pgrlab/core/rng"
)

// Older checkpoints have fixed fields for the counters of curiosity and rnd; they are read as the
// counters of models of these names.
func TestCountersOfOlderCheckpoints(t *testing.T) {
	type oldState struct {
		Updates uint64
		Missed  int
	}
	type oldSums struct {
		Model, RND  mean
		LatestModel float64
	}
	var file bytes.Buffer
	err := gob.NewEncoder(&file).Encode(struct {
		Episode        uint64
		Curiosity, RND oldState
		Losses         oldSums
	}{9, oldState{40, 2}, oldState{3, 70}, oldSums{mean{12, 4}, mean{}, 2.5}})
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := gob.NewDecoder(&file).Decode(&s); err != nil {
		t.Fatal(err)
	}
	s.adoptModels()
	if got := *s.stateOf("curiosity"); got != (modelState{Name: "curiosity", Updates: 40, Missed: 2}) {
		t.Errorf("curiosity: %+v", got)
	}
	if got := *s.stateOf("rnd"); got != (modelState{Name: "rnd", Updates: 3, Missed: 70}) {
		t.Errorf("rnd: %+v", got)
	}
	if got := *s.Losses.model("curiosity"); got != (mean{12, 4}) || len(s.Losses.Models) != 1 || s.Losses.LatestModel != 2.5 || s.Episode != 9 {
		t.Errorf("losses %+v, episode %d", s.Losses, s.Episode)
	}
}

// No relevance function samples from another stream of the replica.
func TestModelsHaveStreamsOfTheirOwn(t *testing.T) {
	s := newStreams(7)
	own := []rng.Stream{s.explore, s.replay, s.dormant, s.scores, s.histogram, s.preview}
	for _, name := range relevance.Names() {
		if slices.Contains(own, s.models.Sub(name)) {
			t.Errorf("relevance %s samples from another stream of the replica", name)
		}
	}
}
