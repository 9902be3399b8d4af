package relevance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/replay"
	"pgrlab/core/testing/golden"
)

// fakeModels predict recorded numbers, [N,rows,O] each, of the rows whose first observation is their
// number, or 1 everywhere.
type fakeModels struct {
	members, out     int
	means, variances []float32
	obs              int // numbers of an observation
	unfit            bool
	err              error
}

func (m fakeModels) Members() int { return m.members }
func (m fakeModels) Fitted() bool { return !m.unfit }

func (m fakeModels) Predict(means, variances, obs, act []float32, rows int) error {
	all := len(m.means) / max(1, m.members*m.out)
	for i := range m.members {
		for row := range rows {
			for j := range m.out {
				at := (i*rows+row)*m.out + j
				if means[at], variances[at] = 1, 1; all > 0 {
					from := (i*all+int(obs[row*m.obs]))*m.out + j
					means[at], variances[at] = m.means[from], m.variances[from]
				}
			}
		}
	}
	return m.err
}

// F of what MAX's own networks predict is the utility that its own program computes of it.
func TestGoldenUtility(t *testing.T) {
	var file struct {
		Normalisation struct {
			Mean golden.Array `json:"delta_mean"`
			Std  golden.Array `json:"delta_std"`
		}
		Batch struct {
			State, Action, Utility golden.Array
			Mean                   golden.Array `json:"next_mean"`
			Variance               golden.Array `json:"next_var"`
		} `json:"utility_of_batch"`
	}
	golden.Recorded(t, "../../dynamics/testdata/max.json", &file)
	b, shape := file.Batch, file.Batch.Mean.Shape // [rows,N,O]
	rows, members, o := shape[0], shape[1], shape[2]
	m := fakeModels{members: members, out: o, obs: o, means: make([]float32, rows*members*o), variances: make([]float32, rows*members*o)}
	for row := range rows {
		for i := range members {
			for j := range o {
				std, from, to := file.Normalisation.Std.Data[j], (row*members+i)*o+j, (i*rows+row)*o+j
				m.means[to] = float32((b.Mean.Data[from] - b.State.Data[row*o+j] - file.Normalisation.Mean.Data[j]) / std)
				m.variances[to] = float32(b.Variance.Data[from] / std / std)
			}
		}
	}
	of := replay.Shape{Obs: o, Act: b.Action.Shape[1]}
	f, err := New("ensemble", Deps{Models: m, Shape: of, Device: newDevice(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.State.Close()
	batch, got := replay.NewBatch(of, rows), make([]float32, rows)
	for row := range rows {
		batch.Obs[row*o] = float32(row)
	}
	if err := f.Score(got, batch, rows); err != nil {
		t.Fatal(err)
	}
	if len(b.Utility.Data) != rows {
		t.Fatalf("the utility of %d rows was recorded, want %d", len(b.Utility.Data), rows)
	}
	for row, u := range b.Utility.Data {
		golden.Near(t, fmt.Sprint("F of row ", row), float64(got[row]), u, 1e-5)
	}
}

// F of a row does not depend on the rows beside it, nor on how many there are; models that agree leave 0.
func TestEnsembleInBlocks(t *testing.T) {
	const rows = disagreementRows + 100
	m := fakeModels{members: 3, out: plane.Obs, obs: plane.Obs, means: make([]float32, 3*rows*plane.Obs), variances: make([]float32, 3*rows*plane.Obs)}
	for i := range m.means {
		m.means[i], m.variances[i] = float32(math.Sin(float64(i*i))), 0.1+float32(i%7)/20
	}
	for j := range plane.Obs {
		for i := range 3 { // they agree on row 5
			m.means[(i*rows+5)*plane.Obs+j], m.variances[(i*rows+5)*plane.Obs+j] = 0.5, 0.2
		}
	}
	f, err := New("ensemble", Deps{Models: m, Shape: plane, Device: newDevice(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.State.Close()
	b, all := replay.NewBatch(plane, rows), make([]float32, rows)
	for i := range rows {
		b.Obs[i*plane.Obs] = float32(i)
	}
	if err := f.Score(all, b, rows); err != nil {
		t.Fatal(err)
	}
	last, one := replay.NewBatch(plane, 1), make([]float32, 1)
	for _, i := range []int{0, 5, disagreementRows, rows - 1} {
		last.Obs[0] = float32(i)
		if err := f.Score(one, last, 1); err != nil || one[0] != all[i] {
			t.Errorf("row %d alone: %v, %v, beside others %v", i, one[0], err, all[i])
		}
	}
	if !(math.Abs(float64(all[5])) <= 1e-6) || !(slices.Max(all) >= 0.1 && float64(slices.Max(all)) <= math.Log(3)+1e-5) {
		t.Errorf("F where they agree is %v, at most %v", all[5], slices.Max(all))
	}
}

// However large variances are, F is of means: models that are unsure of the same guess do not disagree.
func TestEnsembleOfUnsureModels(t *testing.T) {
	m := fakeModels{members: 2, out: plane.Obs, obs: plane.Obs, means: make([]float32, 2*plane.Obs), variances: make([]float32, 2*plane.Obs)}
	for i := range m.variances {
		m.variances[i] = 1 + 10*float32(i/plane.Obs) // of one model 1, of the other one 11
	}
	f, err := New("ensemble", Deps{Models: m, Shape: plane, Device: newDevice(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.State.Close()
	got := make([]float32, 1)
	if err := f.Score(got, replay.NewBatch(plane, 1), 1); err != nil || !(math.Abs(float64(got[0])) <= 1e-6) {
		t.Errorf("F is %v, %v", got[0], err)
	}
}

// F is unknown before the generator is fitted, and an error of its models is not lost.
func TestEnsembleBeforeAFit(t *testing.T) {
	m := fakeModels{members: 2, out: plane.Obs, unfit: true, err: errors.New("no fit")}
	f, err := New("ensemble", Deps{Models: m, Shape: plane, Device: newDevice(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.State.Close()
	if f.Known() {
		t.Error("it is known")
	}
	if err := f.Score(make([]float32, 1), replay.NewBatch(plane, 1), 1); err == nil || !strings.Contains(err.Error(), "no fit") {
		t.Errorf("scored: %v", err)
	}
}
