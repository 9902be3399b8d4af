package policy

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"pgrlab/core/nn"
	"pgrlab/core/op"
)

// Layer is a linear layer y = W·x + b of a policy, as PyTorch keeps it.
type Layer struct {
	Name    string // as in watchernyu/REDQ: redq/algos/core.py
	In, Out int
	Weight  []float32 // [Out,In]
	Bias    []float32 // [Out]
}

// ReadLayers reads what a run saved as its policy: hidden layers, each followed by a ReLU, then
// last_fc_layer, which gives μ, and last_fc_log_std beside it. The action that evaluation takes
// is tanh μ.
func ReadLayers(r io.Reader) ([]Layer, error) {
	r, err := unsealed(r)
	if err != nil {
		return nil, err
	}
	tensors, err := readWeights(r)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(tensors, func(t *op.Tensor) bool { return t.Name == "gates.w" }) {
		return nil, errors.New("read policy: it remembers its episode, and recurrent layers are not exported: only policies without a memory are")
	}
	if len(tensors) > 0 && strings.HasPrefix(tensors[0].Name, "encoder.") {
		return nil, errors.New("read policy: it sees frames, and convolutions are exported as ONNX only")
	}
	if len(tensors) > 0 && strings.HasPrefix(tensors[0].Name, "trunk.") {
		return nil, errors.New("read policy: it chooses among actions, which is exported as ONNX only")
	}
	damaged := errors.New("read policy: these are no weights of a policy")
	if len(tensors) < 4 || len(tensors)%2 != 0 {
		return nil, damaged
	}
	var all []Layer
	for i := 0; i < len(tensors); i += 2 {
		w, b := tensors[i], tensors[i+1]
		heads := i+2 == len(tensors)
		if !strings.HasPrefix(w.Name, "policy.") || len(w.Shape) != 2 || len(b.Shape) != 1 || b.Shape[0] != w.Shape[1] || heads && w.Shape[1]%2 != 0 {
			return nil, damaged
		}
		if !heads {
			all = append(all, columns(fmt.Sprintf("hidden_layers.%d", i/2), w, b, 0, w.Shape[1]))
			continue
		}
		half := w.Shape[1] / 2
		all = append(all, columns("last_fc_layer", w, b, 0, half), columns("last_fc_log_std", w, b, half, 2*half))
	}
	return all, nil
}

// columns makes a layer from some outputs of weights [in,out].
func columns(name string, w, b *op.Tensor, from, to int) Layer {
	l := Layer{Name: name, In: w.Shape[0], Out: to - from, Bias: b.Data[from:to]}
	for j := from; j < to; j++ {
		for i := range l.In {
			l.Weight = append(l.Weight, w.Data[i*w.Shape[1]+j])
		}
	}
	return l
}

// readWeights reads a file that holds weights and nothing else. It refuses weights that are not
// finite, with which an agent cannot act.
func readWeights(r io.Reader) ([]*op.Tensor, error) {
	tensors, err := nn.Read(r)
	if err != nil {
		return nil, err
	}
	if n, _ := io.CopyN(io.Discard, r, 1); n > 0 {
		return nil, errors.New("read weights: something follows them: the file is damaged")
	}
	for _, t := range tensors {
		for _, v := range t.Data {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("read weights: %.40q holds %v: the run had diverged, or the file is damaged", t.Name, v)
			}
		}
	}
	return tensors, nil
}
