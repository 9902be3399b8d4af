package report

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Tensor is a named array of numbers, row by row.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// Safetensors writes tensors in the safetensors format (huggingface/safetensors):
// the length of the header (little-endian uint64), the header (JSON, padded with
// spaces to a multiple of eight bytes), and the numbers of one tensor after another as
// little-endian float32.
func Safetensors(w io.Writer, tensors []Tensor, metadata map[string]string) error {
	type place struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header := map[string]any{"__metadata__": metadata}
	end := 0
	for _, t := range tensors {
		begin := end
		end += 4 * len(t.Data)
		header[t.Name] = place{"F32", t.Shape, [2]int{begin, end}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("write safetensors: %w", err)
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	out := bufio.NewWriter(w)
	out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
	out.Write(text)
	for _, t := range tensors {
		putFloats(out, t.Data)
	}
	if err := out.Flush(); err != nil { // bufio remembers the first error
		return fmt.Errorf("write safetensors: %w", err)
	}
	return nil
}

func putFloats(out *bufio.Writer, data []float32) {
	var word [4]byte
	for _, v := range data {
		binary.LittleEndian.PutUint32(word[:], math.Float32bits(v))
		out.Write(word[:])
	}
}

// Transitions are rows [s, a, r, s', d], oldest first.
type Transitions interface {
	Len() int
	Sizes() (obs, act int)
	Row(i int) []float32
}

// NPZ writes transitions as NumPy arrays under the names that D4RL uses:
// observations [N,O], actions [N,A], rewards [N], next_observations [N,O],
// terminals [N] and timeouts [N], all float32. A terminal is 1 at a true end, never at a time limit.
// If the episodes are known, timeouts are Episodes.Cut, and episode [N], int32, is Episodes.Number.
// nil: the rows follow no course of time, and every row is a timeout, so that readers which take the
// next row's observation for the one that follows drop it. The library npyio also writes such files,
// but its matrices are float64 only.
func NPZ(w io.Writer, t Transitions, e *Episodes) error {
	obs, act := t.Sizes()
	archive := zip.NewWriter(w)
	array := func(name, kind, size string, put func(out *bufio.Writer)) error {
		file, err := archive.Create(name + ".npy")
		if err != nil {
			return fmt.Errorf("write npz: %w", err)
		}
		out := bufio.NewWriter(file)
		out.WriteString(npyHeader(kind, size))
		put(out)
		if err := out.Flush(); err != nil {
			return fmt.Errorf("write npz: %s: %w", name, err)
		}
		return nil
	}
	for _, a := range []struct {
		name        string
		from, width int // width 0: one number a row
	}{
		{"observations", 0, obs}, {"actions", obs, act}, {"rewards", obs + act, 0},
		{"next_observations", obs + act + 1, obs}, {"terminals", 2*obs + act + 1, 0},
	} {
		shape := fmt.Sprintf("(%d,)", t.Len())
		if a.width > 0 {
			shape = fmt.Sprintf("(%d, %d)", t.Len(), a.width)
		}
		if err := array(a.name, "<f4", shape, func(out *bufio.Writer) {
			for i := range t.Len() {
				putFloats(out, t.Row(i)[a.from:a.from+max(a.width, 1)])
			}
		}); err != nil {
			return err
		}
	}
	each, cut := fmt.Sprintf("(%d,)", t.Len()), slices.Repeat([]float32{1}, t.Len())
	if e != nil {
		cut = e.Cut
	}
	err := array("timeouts", "<f4", each, func(out *bufio.Writer) { putFloats(out, cut) })
	if e != nil {
		err = errors.Join(err, array("episode", "<i4", each, func(out *bufio.Writer) { binary.Write(out, binary.LittleEndian, e.Number) }))
	}
	if err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write npz: %w", err)
	}
	return nil
}

// npyHeader returns the header of an array of numbers of that kind (NumPy's format
// 1.0): magic, version, length, a dictionary, and spaces up to a multiple of 64 bytes.
func npyHeader(kind, shape string) string {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	const before = 10
	text += strings.Repeat(" ", (64-(before+len(text)+1)%64)%64) + "\n"
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text
}
