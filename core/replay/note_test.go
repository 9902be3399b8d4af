package replay

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgrlab/core/rng"
	"pgrlab/core/version"
)

// noted makes a ring of five rows, in which every third transition is a respawn.
func noted(n int) *Ring {
	r := NewRing(Shape{2, 1}, 5)
	r.Annotate()
	for i := range n {
		r.Add(Transition{Obs: []float32{float32(i), 0}, Act: []float32{0}, Next: []float32{0, 0}, Note: Note{Respawned: i%3 == 0}})
	}
	return r
}

func checkNotes(t *testing.T, r *Ring) {
	t.Helper()
	b := NewBatch(r.Shape(), r.Len())
	r.GatherRange(b, 0, r.Len())
	for i := range r.Len() {
		want := int(r.Row(i)[0])%3 == 0
		if r.Note(i).Respawned != want || b.Notes[i].Respawned != want {
			t.Errorf("slot %d has row %v, note %v, in a batch %v", i, r.Row(i)[0], r.Note(i), b.Notes[i])
		}
	}
}

// A note stays with its row, also in a file and in another ring; rows that the agent did not meet
// have none.
func TestNotes(t *testing.T) {
	for n := range 12 {
		r := noted(n)
		checkNotes(t, r)
		checkNotes(t, reloaded(t, r))
		other := NewRing(r.Shape(), 5)
		other.Annotate()
		for i := range r.Len() {
			other.AddFrom(r, i)
		}
		checkNotes(t, other)
	}
	r := noted(5)
	r.AddRows(make([]float32, r.Shape().Width()))
	if r.Note(0).Respawned {
		t.Error("a generated row has the note of the one before in its slot")
	}
}

// A ring with notes reads no rows without them.
func TestAFileWithoutNotes(t *testing.T) {
	old, into := NewRing(Shape{2, 1}, 5), noted(5)
	for range 5 {
		old.Add(Transition{Obs: []float32{1, 0}, Act: []float32{0}, Next: []float32{0, 0}})
	}
	var file bytes.Buffer
	if err := old.Save(&file); err != nil {
		t.Fatal(err)
	}
	if err := into.Load(&file); !errors.Is(err, version.ErrOther) {
		t.Errorf("%v", err)
	}
	if err := into.LoadLog(bytes.NewReader(old.AppendSince(nil, 0)), old.State()); !errors.Is(err, version.ErrOther) {
		t.Errorf("%v", err)
	}
}

// A mixer can leave respawns out, and gives up if there is nothing else.
func TestWithoutRespawns(t *testing.T) {
	r, b := noted(20), NewBatch(Shape{2, 1}, 200)
	m := NewMixer(rng.New(1, "test"))
	if err := m.Sample(b, Mix{Real: 200}, r, nil, 0); err != nil || !slices.Contains(b.Notes, Note{Respawned: true}) {
		t.Fatalf("%v: no respawns among %v", err, b.Notes)
	}
	m = m.WithoutRespawns()
	if err := m.Sample(b, Mix{Real: 200}, r, nil, 0); err != nil || slices.Contains(b.Notes, Note{Respawned: true}) {
		t.Errorf("%v: respawns among %v", err, b.Notes)
	}
	for _, x := range []float32{16, 17, 19} {
		if !slices.Contains(b.Obs, x) {
			t.Errorf("row %v was not drawn", x)
		}
	}
	only := NewRing(Shape{2, 1}, 1)
	only.Annotate()
	only.AddFrom(r, r.Newest(1))
	if err := m.Sample(b, Mix{Real: 200}, only, nil, 0); err != nil || b.Obs[0] != 18 {
		t.Errorf("%v, row %v", err, b.Obs[0])
	}
}

// A log holds the notes of its rows.
func TestNotesInALog(t *testing.T) {
	for n := range 12 {
		r, back := noted(n), noted(3)
		log := r.AppendSince(nil, 0)
		if len(log) != r.Len()*r.RowBytes() {
			t.Fatalf("%d bytes of %d rows of %d", len(log), r.Len(), r.RowBytes())
		}
		if err := back.LoadLog(bytes.NewReader(log), r.State()); err != nil {
			t.Fatal(err)
		}
		checkNotes(t, back)
		if !slices.Equal(back.notes, r.notes) {
			t.Errorf("notes %v, want %v", back.notes, r.notes)
		}
	}
}
