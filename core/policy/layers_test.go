package policy

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/agent/sac"
	"pgrlab/core/report"
	"pgrlab/core/testing/tiny"
)

// file is a file of safetensors as another program reads it.
type file struct {
	head map[string]struct {
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	data []byte
}

// linear is y = W·x + b in float64.
func (f file) linear(t *testing.T, name string, x []float64) []float64 {
	w, b := f.head[name+".weight"], f.head[name+".bias"]
	at := func(offset, i int) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(f.data[offset+4*i:])))
	}
	if len(w.Shape) != 2 || w.Shape[1] != len(x) || len(b.Shape) != 1 || b.Shape[0] != w.Shape[0] {
		t.Fatalf("%s: weights %v and bias %v for %d inputs", name, w.Shape, b.Shape, len(x))
	}
	y := make([]float64, w.Shape[0])
	for o := range y {
		y[o] = at(b.Offsets[0], o)
		for i, v := range x {
			y[o] += at(w.Offsets[0], o*len(x)+i) * v
		}
	}
	return y
}

// An exported policy, read and evaluated by code that shares nothing with ours, acts
// as the agent does. 1e-5: ours computes in float32.
func TestAnExportedPolicyActsAsTheAgent(t *testing.T) {
	a, err := sac.New(sac.DefaultConfig(7, 3), tiny.Device(t), 42)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var saved, exported bytes.Buffer
	if err := a.SavePolicy(&saved); err != nil {
		t.Fatal(err)
	}
	whole := slices.Clone(saved.Bytes())
	layers, err := ReadLayers(&saved)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []report.Tensor
	for _, l := range layers {
		tensors = append(tensors, report.Tensor{Name: l.Name + ".weight", Shape: []int{l.Out, l.In}, Data: l.Weight},
			report.Tensor{Name: l.Name + ".bias", Shape: []int{l.Out}, Data: l.Bias})
	}
	if err := report.Safetensors(&exported, tensors, nil); err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint64(exported.Bytes())
	f := file{data: exported.Bytes()[8+size:]}
	if err := json.Unmarshal(exported.Bytes()[8:8+size], &f.head); err != nil {
		t.Fatal(err)
	}
	for row := range 20 {
		obs, x := make([]float32, 7), make([]float64, 7)
		for i := range obs {
			x[i] = 2 * math.Sin(float64(row*7+i))
			obs[i] = float32(x[i])
		}
		for i := range 2 {
			x = f.linear(t, fmt.Sprintf("hidden_layers.%d", i), x)
			for j := range x {
				x[j] = max(x[j], 0)
			}
		}
		want := f.linear(t, "last_fc_layer", x)
		f.linear(t, "last_fc_log_std", x)
		got := make([]float32, 3)
		if err := a.Act(&agent.Acting{Copies: 1, Obs: obs, Actions: got, Mode: agent.Mean}); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if math.Abs(float64(got[i])-math.Tanh(want[i])) > 1e-5 {
				t.Errorf("state %d: action %v, the exported policy %v", row, got[i], math.Tanh(want[i]))
			}
		}
	}
	for i := range 200 { // wherever it ends, and whatever a bit says
		if _, err := ReadLayers(bytes.NewReader(whole[:i*len(whole)/200])); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("a part of a policy: %v", err)
		}
		bad := slices.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		ReadLayers(bytes.NewReader(bad)) // an error or other numbers, no crash
	}
}
