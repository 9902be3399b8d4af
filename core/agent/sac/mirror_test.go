package sac

import (
	"bytes"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/testing/mirrortest"
)

// tale returns every result of an agent that learns, is saved, goes on, and goes on once more from
// the saved state, all on one device.
func tale(t *testing.T, dev device.Device) (said []float32, files [][]byte) {
	t.Helper()
	c := small()
	c.Critics, c.PolicyDelay, c.Weighted = 4, 3, true
	s, err := New(c, dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	obs, wrong := []float32{1, 2, 3, -4, 0.5}, make([]float32, 8)
	listen := func() {
		action := make([]float32, 2)
		if err := actMean(s, action, obs, 1); err != nil {
			t.Fatal(err)
		}
		if err := s.Errors(wrong, 8); err != nil {
			t.Fatal(err)
		}
		said = append(append(said, action...), wrong...)
	}
	save := func() {
		var whole, policy bytes.Buffer
		if err := s.SavePolicy(&policy); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(&whole); err != nil {
			t.Fatal(err)
		}
		files = append(files, whole.Bytes(), policy.Bytes())
	}
	b, err := s.Batch(8)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Weight { // with weights of 0 critics learn nothing
		b.Weight[i] = 1
	}
	train(t, s, 0, 20)
	listen()
	save()
	train(t, s, 20, 30)
	if err := s.LoadPolicy(bytes.NewReader(files[1])); err != nil {
		t.Fatal(err)
	}
	listen()
	if err := s.Load(bytes.NewReader(files[0])); err != nil {
		t.Fatal(err)
	}
	train(t, s, 20, 30)
	listen()
	save()
	return said, files
}

func TestAnAgentApart(t *testing.T) {
	inner := newDevice(t, 1)
	said, files := tale(t, inner)
	apartSaid, apartFiles := tale(t, mirrortest.New(inner))
	if !slices.Equal(said, apartSaid) {
		t.Errorf("apart it says\n%v\non the CPU\n%v", apartSaid, said)
	}
	for i := range files {
		if !bytes.Equal(files[i], apartFiles[i]) {
			t.Errorf("file %d is another one", i)
		}
	}
}
