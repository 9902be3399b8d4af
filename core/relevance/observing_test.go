package relevance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/replay"
)

// F of rows that a learner made is F of the observations behind them. Generated rows have no F, and
// rows made from something else are refused.
func TestFOfObservations(t *testing.T) {
	latent := replay.Shape{Obs: 5, Act: three.Act}
	icm, rnd := smallICM(), smallRND()
	icm.On, icm.ForwardShare, rnd.On = OnObservations, 0.2, OnObservations
	for name, c := range map[string]Config{"curiosity": icm, "rnd": rnd} {
		deps := Deps{Config: c, Shape: latent, Met: three, Made: true, Device: newDevice(t), Seed: 1}
		f, err := New(name, deps)
		if err != nil {
			t.Fatal(err)
		}
		deps.Shape, deps.Made = three, false
		plain, err := New(name, deps)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.State.Close(); plain.State.Close() })
		if !f.LearnsFromMet || plain.LearnsFromMet || f.Scale != plain.Scale {
			t.Errorf("%s: of what was met %v and %v, scales %v and %v", name, f.LearnsFromMet, plain.LearnsFromMet, f.Scale, plain.Scale)
		}
		const rows = observed + 3
		met, b, want, got := replay.NewBatch(three, rows), replay.NewBatch(latent, rows), make([]float32, rows), make([]float32, rows)
		fillBatch(met, 2)
		b.Notes, b.Frames = make([]replay.Note, rows), make([]replay.FrameRow, rows)
		for i := range rows {
			b.Notes[i].Respawned = i == 1 || i == rows-1
			b.Frames[i] = replay.FrameRow{
				Obs: met.Obs[i*three.Obs:][:three.Obs], Action: met.Act[i*three.Act:][:three.Act], NextObs: met.Next[i*three.Obs:][:three.Obs],
			}
		}
		met.Notes = b.Notes
		if err := errors.Join(plain.Score(want, met, rows), f.Score(got, b, rows)); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if d := got[i] - want[i]; d > 1e-5*want[i] || d < -1e-5*want[i] || b.Notes[i].Respawned && got[i] != 0 {
				t.Errorf("%s: F of row %d is %v, want %v", name, i, got[i], want[i])
			}
		}
		// Of a generator's conditions F of respawns is unknown, and they get that of others.
		judged := f.Judge(slices.Clone(got), func(i int) replay.Note { return b.Notes[i] })
		for i, v := range judged {
			if !b.Notes[i].Respawned && v != got[i] || b.Notes[i].Respawned && (v == 0 || !slices.Contains(got, v)) {
				t.Errorf("%s: the condition of row %d is %v, F is %v; respawned: %v", name, i, v, got[i], b.Notes[i].Respawned)
			}
		}
		b.Frames[2].NextObs = slices.Concat(b.Frames[2].NextObs, []float32{1})
		if err := f.Score(got, b, rows); err == nil || !strings.Contains(err.Error(), "row 2 was made from") {
			t.Errorf("%s: of other numbers: %v", name, err)
		}
		b.Unseen = replay.ErrUnseen
		if err := f.Score(got, b, rows); !errors.Is(err, replay.ErrUnseen) || f.CanScore(b, rows) {
			t.Errorf("%s: of generated rows: %v", name, err)
		}
	}
}

// F is of the rows themselves if they are transitions as met, or if the settings ask for latents.
func TestFOfRowsThatNoLearnerMade(t *testing.T) {
	rnd := smallRND()
	for on, made := range map[string]bool{OnObservations: false, OnFrames: true, OnLatents: true} {
		rnd.On = on
		f, err := New("rnd", Deps{Config: rnd, Shape: three, Met: three, Made: made, Device: newDevice(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.State.Close() })
		if f.LearnsFromMet {
			t.Errorf("rnd.on %q: F is not of the rows", on)
		}
	}
	rnd.On = "walls"
	if err := rnd.Validate(); err == nil || !strings.Contains(err.Error(), `on is "walls", want "observations", "frames" or "latents"`) {
		t.Errorf("%v", err)
	}
}
