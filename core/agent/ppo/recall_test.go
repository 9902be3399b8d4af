package ppo

import (
	"bytes"
	"slices"
	"testing"

	"pgrlab/core/replay"
)

// The observations that a row was made from can be recalled until D_real is made anew, also after
// loading.
func TestObservationsBehindDRealAreRecalled(t *testing.T) {
	l := newLatentAgent(t, smallLatent(), newDevice(t, 1))
	s := latentSession(l, nil)
	s.source.Mix = replay.Mix{Real: 6}
	for l.iterations < 4 {
		s.unit(t)
	}
	var row replay.FrameRow
	if err := l.Recall(&row, nil, 0); err == nil {
		t.Error("a row is recalled before D_real was made")
	}
	h := l.history.(*rowHistory)
	var file bytes.Buffer
	total := encodeAll(t, l, s.source)
	var want []met
	for i := range total {
		m, err := h.read(i, &s.source)
		if err != nil {
			t.Fatal(err)
		}
		m.seen.numbers, m.next.numbers, m.action = slices.Clone(m.seen.numbers), slices.Clone(m.next.numbers), slices.Clone(m.action)
		want = append(want, m)
	}
	for l.iterations < 9 {
		s.unit(t)
	}
	if err := h.save(&file); err != nil {
		t.Fatal(err)
	}
	read := func(file []byte) *rowHistory {
		h := newRowHistory(l.config)
		if err := h.load(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		return h
	}
	for name, h := range map[string]*rowHistory{"now": h, "after a file": read(file.Bytes())} {
		for i, m := range want {
			if err := h.recall(&row, nil, i); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(row.Obs, m.seen.numbers) || !slices.Equal(row.NextObs, m.next.numbers) || !slices.Equal(row.Action, m.action) ||
				row.Return != m.reward || row.Respawned != m.note.Respawned {
				t.Fatalf("row %d, %s: made from %+v, recalled as %+v", i, name, m, row)
			}
		}
	}
	if err := newRowHistory(l.config).load(bytes.NewReader(file.Bytes()[:file.Len()-4])); err == nil {
		t.Error("a file that was cut off is read")
	}
	if err := l.Recall(&row, nil, total); err == nil {
		t.Error("a row behind the last is recalled")
	}
}
