package nn

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"pgrlab/core/op"
	"pgrlab/core/version"
)

// magic begins every file of weights; the digit is the version of the format.
const magic = "PGRW1\n"

// Save writes tensors: for each one its name, its shape and its numbers, all little-endian.
func Save(w io.Writer, tensors []*op.Tensor) error {
	b := bufio.NewWriter(w)
	b.WriteString(magic)
	writeInts(b, len(tensors))
	for _, t := range tensors {
		writeInts(b, len(t.Name))
		b.WriteString(t.Name)
		writeInts(b, len(t.Shape))
		writeInts(b, t.Shape...)
		var word [4]byte
		for _, v := range t.Data {
			binary.LittleEndian.PutUint32(word[:], math.Float32bits(v))
			b.Write(word[:])
		}
	}
	if err := b.Flush(); err != nil { // bufio remembers the first error
		return fmt.Errorf("save weights: %w", err)
	}
	return nil
}

func writeInts(b *bufio.Writer, values ...int) {
	var word [4]byte
	for _, v := range values {
		binary.LittleEndian.PutUint32(word[:], uint32(v))
		b.Write(word[:])
	}
}

// Load reads what Save wrote into tensors of the same names and shapes. It reads no byte beyond
// that. On an error the tensors may be partly overwritten.
func Load(r io.Reader, tensors []*op.Tensor) error {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil {
		return fmt.Errorf("load weights: %w", whole(err))
	}
	if string(head) != magic {
		return fmt.Errorf("load weights: not a file of weights, or %w", version.ErrOther)
	}
	count, err := readInt(r)
	if err != nil {
		return err
	}
	if count != len(tensors) {
		return fmt.Errorf("load weights: the file holds %d tensors, the network has %d", count, len(tensors))
	}
	for _, t := range tensors {
		if err := loadTensor(r, t); err != nil {
			return err
		}
	}
	return nil
}

func loadTensor(r io.Reader, t *op.Tensor) error {
	n, err := readInt(r)
	if err != nil {
		return err
	}
	if n != len(t.Name) {
		return fmt.Errorf("load weights: the file holds another network, %s is not where it should be", t.Name)
	}
	name := make([]byte, n)
	if _, err := io.ReadFull(r, name); err != nil {
		return fmt.Errorf("load weights: %w", whole(err))
	}
	if string(name) != t.Name {
		return fmt.Errorf("load weights: the file holds %q where the network has %q", name, t.Name)
	}
	rank, err := readInt(r)
	if err != nil {
		return err
	}
	shape := make([]int, min(rank, 8))
	for i := range shape {
		if shape[i], err = readInt(r); err != nil {
			return err
		}
	}
	if !slices.Equal(shape, t.Shape) {
		return fmt.Errorf("load weights: %s is %v in the file and %v in the network", t.Name, shape, t.Shape)
	}
	raw := make([]byte, 4*len(t.Data))
	if _, err := io.ReadFull(r, raw); err != nil {
		return fmt.Errorf("load weights: %s: %w", t.Name, whole(err))
	}
	for i := range t.Data {
		t.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

func readInt(r io.Reader) (int, error) {
	var word [4]byte
	if _, err := io.ReadFull(r, word[:]); err != nil {
		return 0, fmt.Errorf("load weights: %w", whole(err))
	}
	return int(binary.LittleEndian.Uint32(word[:])), nil
}

// whole says of the end of a file that it came too early.
func whole(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file is cut off")
	}
	return err
}

// Copy overwrites dst with src; both must hold tensors of the same sizes.
func Copy(dst, src []*op.Tensor) {
	for i := range dst {
		copy(dst[i].Data, src[i].Data)
	}
}
