package policy

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Versions of ONNX that a graph is written in, which every runtime since 2020 reads, and types of its
// tensors (onnx/onnx: onnx/onnx.proto3, as are the numbers of fields below).
const (
	onnxIR    = 8
	onnxOpset = 13

	onnxFloat = 1
	onnxUint8 = 2
	onnxInt64 = 7
)

// onnxGraph is a GraphProto in the making. Values are known by their names.
type onnxGraph struct {
	nodes, constants, inputs, outputs []byte
	made                              int
}

// node adds an operation and returns the name of its output, which is to, or one of its own if that
// is empty.
func (g *onnxGraph) node(to, op string, attributes []byte, from ...string) string {
	if to == "" {
		g.made++
		to = fmt.Sprintf("%s_%d", op, g.made)
	}
	var n []byte
	for _, name := range from {
		n = textField(n, 1, name)
	}
	n = textField(n, 2, to)
	n = textField(n, 3, "make "+to)
	n = append(textField(n, 4, op), attributes...)
	g.nodes = bytesField(g.nodes, 1, n)
	return to
}

// constant adds numbers of a shape, row by row, and returns their name.
func (g *onnxGraph) constant(name string, data []float32, shape ...int) string {
	var t []byte
	for _, n := range shape {
		t = intField(t, 1, n)
	}
	t = textField(intField(t, 2, onnxFloat), 8, name)
	raw := make([]byte, 0, 4*len(data))
	for _, v := range data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	g.constants = bytesField(g.constants, 5, bytesField(t, 9, raw))
	return name
}

// input says that the graph is given a value [batch, shape], and output that it computes one.
func (g *onnxGraph) input(name string, kind int, shape ...int) string {
	g.inputs = bytesField(g.inputs, 11, batchOf(name, kind, shape))
	return name
}

func (g *onnxGraph) output(name string, kind int, shape ...int) {
	g.outputs = bytesField(g.outputs, 12, batchOf(name, kind, shape))
}

// batchOf is a ValueInfoProto.
func batchOf(name string, kind int, shape []int) []byte {
	dims := bytesField(nil, 1, textField(nil, 2, "batch"))
	for _, n := range shape {
		dims = bytesField(dims, 1, intField(nil, 1, n))
	}
	tensor := bytesField(intField(nil, 1, kind), 2, dims)
	return bytesField(textField(nil, 1, name), 2, bytesField(nil, 1, tensor))
}

// model is the ModelProto of the graph; about are its properties, key and value.
func (g *onnxGraph) model(name, version string, about [][2]string) []byte {
	m := textField(textField(intField(nil, 1, onnxIR), 2, "pgrlab"), 3, version)
	graph := append(append([]byte(nil), g.nodes...), textField(nil, 2, name)...)
	graph = append(append(append(graph, g.constants...), g.inputs...), g.outputs...)
	m = bytesField(bytesField(m, 7, graph), 8, intField(textField(nil, 1, ""), 2, onnxOpset))
	for _, p := range about {
		m = bytesField(m, 14, textField(textField(nil, 1, p[0]), 2, p[1]))
	}
	return m
}

// The attributes of operations: a name, a value, and the type of the value.
func intAttribute(to []byte, name string, v int) []byte {
	return bytesField(to, 5, intField(intField(textField(nil, 1, name), 3, v), 20, 2))
}

func intsAttribute(to []byte, name string, all ...int) []byte {
	a := textField(nil, 1, name)
	for _, v := range all {
		a = intField(a, 8, v)
	}
	return bytesField(to, 5, intField(a, 20, 7))
}

func intField(to []byte, n protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, n, protowire.VarintType), uint64(int64(v)))
}

func textField(to []byte, n protowire.Number, s string) []byte { return bytesField(to, n, []byte(s)) }

func bytesField(to []byte, n protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), b)
}
