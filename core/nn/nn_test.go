package nn

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/op"
	"pgrlab/core/rng"

	"gorgonia.org/gorgonia"
)

func TestInitialisersKeepTheirBounds(t *testing.T) {
	s := rng.New(1, "init")
	x := NewLinear("x", 300, 200, XavierUniform, s)
	bound := math.Sqrt(6.0 / 500)
	if m := maxAbs(x.W.Data); m > bound || m < 0.99*bound {
		t.Errorf("Xavier weights reach %v, want just under %v", m, bound)
	}
	if maxAbs(x.B.Data) != 0 {
		t.Error("Xavier biases are not zero")
	}
	d := NewLinear("d", 100, 400, TorchDefault, s)
	for _, p := range d.Params() {
		if m := maxAbs(p.Data); m > 0.1 || m < 0.095 {
			t.Errorf("%s reaches %v, want just under 0.1", p.Name, m)
		}
	}
}

func maxAbs(x []float32) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(float64(v)))
	}
	return m
}

func TestMembersOfAnEnsembleDiffer(t *testing.T) {
	e := NewEnsemble("e", 3, 4, 5, XavierUniform, rng.New(1, "ensemble"))
	if slices.Equal(e.W.Data[:20], e.W.Data[20:40]) || slices.Equal(e.W.Data[20:40], e.W.Data[40:]) {
		t.Error("two members have the same weights")
	}
}

// A new layer normalisation produces rows of mean 0 and variance 1, for each member of an ensemble.
func TestLayerNormStartsPlain(t *testing.T) {
	x := op.NewTensor("x", 2, 3, 8)
	rng.New(1, "x").FillNormal(x.Data, 0, 0)
	l := NewLayerNorm("ln", 1e-6, 2, 8)
	var y *op.Node
	g, err := op.Build("ln", func(g *op.Graph) { y = l.Apply(g, g.Bind(x)) })
	if err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g.Expr())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	out := y.Value().Data().([]float32)
	for at := 0; at < len(out); at += 8 {
		mean, square := 0.0, 0.0
		for _, v := range out[at : at+8] {
			mean += float64(v) / 8
			square += float64(v) * float64(v) / 8
		}
		if math.Abs(mean) > 1e-6 || math.Abs(square-1) > 1e-4 {
			t.Errorf("row %d has mean %v and mean square %v, want 0 and 1", at/8, mean, square)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	net := func(seed uint64) []*op.Tensor {
		return NewMLP("net", []int{3, 4, 2}, TorchDefault, ReLU, rng.New(seed, "net")).Params()
	}
	a, b := net(1), net(2)
	var file bytes.Buffer
	if err := Save(&file, a); err != nil {
		t.Fatal(err)
	}
	saved := bytes.Clone(file.Bytes())
	file.WriteString("what follows")
	if err := Load(&file, b); err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if !slices.Equal(a[i].Data, b[i].Data) {
			t.Errorf("%s came back changed", a[i].Name)
		}
	}
	if file.String() != "what follows" {
		t.Errorf("load read beyond its end: %q is left", file.String())
	}
	other := NewMLP("net", []int{3, 5, 2}, TorchDefault, ReLU, rng.New(1, "net")).Params()
	if err := Load(bytes.NewReader(saved), other); err == nil || !strings.Contains(err.Error(), "net.1.w") {
		t.Errorf("weights of another shape gave %v", err)
	}
	for cut := range len(saved) {
		if err := Load(bytes.NewReader(saved[:cut]), net(2)); err == nil {
			t.Fatalf("a file cut at byte %d of %d was accepted", cut, len(saved))
		}
	}
}
