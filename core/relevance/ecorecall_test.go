package relevance

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/experience"
)

// placed adds the copies' positions to a stroll: what they see is where they are.
func placed(m *Met) *Met {
	for i := range m.Ended {
		m.From, m.Place = append(m.From, m.Obs[3*i:3*i+2]...), append(m.Place, m.Next[3*i:3*i+2]...)
	}
	return m
}

// remembering returns episodic curiosity after its first round, in the middle of episodes.
func remembering(t *testing.T) (m *ECO, s *strolls) {
	t.Helper()
	c := smallECO()
	c.Entries, c.Beta = 40, 1 // more entries than are embedded together; everything that is reached joins them
	m, s = newECO(t, c, 2), &strolls{copies: 2, length: 45}
	meet(t, m, s, 40)
	if !m.Learned() {
		t.Fatal("the round is not over")
	}
	return m, s
}

// Recall returns the entries with the places where they were met, and the percentile from which F
// of the observation was computed.
func TestRecallIsWhatFIsMadeOf(t *testing.T) {
	m, s := remembering(t)
	f := make([]float32, 2)
	joined := 0
	for range 60 {
		step := placed(s.next())
		met(t, m, f, step)
		for i := range 2 {
			obs := step.Next[3*i : 3*i+3]
			got, err := m.Recall(i, experience.Look{Numbers: obs})
			if err != nil {
				t.Fatal(err)
			}
			if step.Ended[i] {
				if len(got.Entries) != 0 || !math.IsNaN(got.Percentile) {
					t.Fatalf("after an episode's end %+v", got)
				}
				continue
			}
			if len(got.Entries) < m.config.Entries { // a full memory has replaced an entry by the newest
				near(t, "F", float64(f[i]), m.config.Alpha*(m.config.Beta-got.Percentile), 1e-7)
			}
			if len(got.Entries) != m.memories.n[i] {
				t.Fatalf("%d entries, want %d", len(got.Entries), m.memories.n[i])
			}
			for k, e := range got.Entries {
				seen := remembered(m, i)[3*k : 3*k+3]
				if s.step > 46 && (e.X != float64(seen[0]) || e.Y != float64(seen[1])) {
					t.Fatalf("entry %d of copy %d was met at (%v, %v), is of %v", k, i, e.X, e.Y, seen)
				}
				if e.Newest != (f[i] > 0 && slices.Equal(seen, obs)) {
					t.Errorf("entry %d of copy %d, F %v: newest %v", k, i, f[i], e.Newest)
				}
				if e.Newest {
					joined++
				}
			}
		}
	}
	if joined < 10 {
		t.Errorf("%d entries joined, want more", joined)
	}
}

// Recall changes nothing, also in the middle of a round.
func TestRecallChangesNothing(t *testing.T) {
	saved := func(look func(m *ECO, obs []float32)) []byte {
		m, s := remembering(t)
		for range 50 {
			step := placed(s.next())
			met(t, m, make([]float32, 2), step)
			look(m, step.Next[:3])
			for done := 0; m.RoundDue(); done++ {
				if _, err := m.LearnSlice(done); err != nil {
					t.Fatal(err)
				}
				look(m, step.Next[:3])
			}
		}
		var b bytes.Buffer
		if err := m.Save(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	quiet := saved(func(*ECO, []float32) {})
	if !bytes.Equal(quiet, saved(func(m *ECO, obs []float32) {
		if _, err := m.Recall(0, experience.Look{Numbers: obs}); err != nil {
			t.Fatal(err)
		}
	})) {
		t.Error("after a look it goes on otherwise")
	}
}

// Places are saved with the entries.
func TestPlacesAreSaved(t *testing.T) {
	m, s := remembering(t)
	var step *Met
	for range 30 {
		step = placed(s.next())
		met(t, m, make([]float32, 2), step)
	}
	recall := func(m *ECO) Recollection {
		got, err := m.Recall(1, experience.Look{Numbers: step.Next[3:]})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := recall(m)
	if n := len(want.Entries); n < 2 || math.IsNaN(want.Entries[n-1].X) {
		t.Fatalf("%+v", want)
	}
	again := newECO(t, m.config, 2)
	load(t, again, m)
	if got := recall(again); !slices.Equal(got.Entries, want.Entries) || got.Percentile != want.Percentile {
		t.Errorf("after loading\n%+v\nwant\n%+v", got, want)
	}
}
