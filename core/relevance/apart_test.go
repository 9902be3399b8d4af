package relevance

import (
	"bytes"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/testing/mirrortest"
)

// tale returns every result of a model that is saved, goes on, and goes on once more from the saved
// state.
func tale(t *testing.T, m Trained) (said []float32, files [][]byte) {
	t.Helper()
	train := func(from, to uint64) {
		for i := from; i < to; i++ {
			fillBatch(m.Batch(), i)
			if _, err := m.Train(); err != nil {
				t.Fatal(err)
			}
		}
		scores := make([]float32, m.Batch().Size)
		if err := m.Score(scores, m.Batch(), len(scores)); err != nil {
			t.Fatal(err)
		}
		said = append(said, scores...)
		if icm, ok := m.(*ICM); ok { // its predictions read the running statistics of the batch norms
			actions := make([]float32, len(scores)*icm.shape.Act)
			if err := icm.PredictActions(actions, m.Batch(), len(scores)); err != nil {
				t.Fatal(err)
			}
			said = append(said, actions...)
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file.Bytes())
	}
	train(0, 5)
	train(5, 10)
	if err := m.Load(bytes.NewReader(files[0])); err != nil {
		t.Fatal(err)
	}
	train(5, 10)
	return said, files
}

func TestAModelApart(t *testing.T) {
	for name, make := range map[string]func(dev device.Device) (Trained, error){
		"curiosity": func(dev device.Device) (Trained, error) { return NewICM(smallICM(), three, dev, 3) },
		"rnd":       func(dev device.Device) (Trained, error) { return NewRND(smallRND(), three, dev, 3) },
		"disagreement": func(dev device.Device) (Trained, error) {
			return NewDisagreement(smallDisagreement(), three, dev, 3)
		},
	} {
		inner := newDevice(t)
		var said [2][]float32
		var files [2][][]byte
		for i, dev := range []device.Device{inner, mirrortest.New(inner)} {
			m, err := make(dev)
			if err != nil {
				t.Fatal(err)
			}
			said[i], files[i] = tale(t, m)
			m.Close()
		}
		if !slices.Equal(said[0], said[1]) {
			t.Errorf("%s: apart it says\n%v\non the CPU\n%v", name, said[1], said[0])
		}
		for i := range files[0] {
			if !bytes.Equal(files[0][i], files[1][i]) {
				t.Errorf("%s: file %d is another one", name, i)
			}
		}
	}
}
