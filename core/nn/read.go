package nn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"pgrlab/core/op"
	"pgrlab/core/version"
)

// Bounds on what Read accepts: a damaged file must not exhaust the memory.
const (
	maxTensors = 1 << 12
	maxName    = 1 << 10
	maxRank    = 8
	maxNumbers = 1 << 30
)

// Read reads what Save wrote, for any network.
func Read(r io.Reader) ([]*op.Tensor, error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("read weights: not a file of weights, or %w", version.ErrOther)
	}
	count, err := readInt(r)
	if err != nil {
		return nil, err
	}
	if count > maxTensors {
		return nil, fmt.Errorf("read weights: %d tensors: the file is damaged", count)
	}
	var all []*op.Tensor
	for range count {
		t, err := readTensor(r)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func readTensor(r io.Reader) (*op.Tensor, error) {
	n, err := readInt(r)
	if err != nil {
		return nil, err
	}
	name := make([]byte, min(n, maxName))
	if _, err := io.ReadFull(r, name); err != nil {
		return nil, fmt.Errorf("read weights: %w", whole(err))
	}
	rank, err := readInt(r)
	if err != nil {
		return nil, err
	}
	if n > maxName || rank > maxRank {
		return nil, fmt.Errorf("read weights: %.40q: the file is damaged", name)
	}
	shape, numbers := make([]int, rank), 1
	for i := range shape {
		if shape[i], err = readInt(r); err != nil {
			return nil, err
		}
		if shape[i] < 1 || shape[i] > maxNumbers/numbers {
			return nil, fmt.Errorf("read weights: %.40q is said to be %v: the file is damaged", name, shape)
		}
		numbers *= shape[i]
	}
	var raw bytes.Buffer // grows with the bytes that arrive, whatever the shape claims
	if _, err := io.CopyN(&raw, r, 4*int64(numbers)); err != nil {
		return nil, fmt.Errorf("read weights: %s: %w", name, whole(err))
	}
	t := op.NewTensor(string(name), shape...)
	for i := range t.Data {
		t.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw.Bytes()[4*i:]))
	}
	return t, nil
}
