package plan

import (
	"encoding/binary"
	"errors"
	"io"

	"pgrlab/core/device"
	"pgrlab/core/op"
)

// Tensors are tensors of a device as a part of a state: see Save and Load.
type Tensors struct {
	Device device.Device
	Of     []*op.Tensor
}

func (t Tensors) Save(w io.Writer) error { return Save(t.Device, w, t.Of) }
func (t Tensors) Load(r io.Reader) error { return Load(t.Device, r, t.Of) }

// SaveAll writes the parts of a state in their order: by its method Save one that has it, and others, which
// are numbers of a fixed size, structs of them, slices, or pointers to one of these, little-endian.
func SaveAll(w io.Writer, parts ...any) error {
	for _, part := range parts {
		var err error
		switch p := part.(type) {
		case interface{ Save(w io.Writer) error }:
			err = p.Save(w)
		default:
			err = binary.Write(w, binary.LittleEndian, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// LoadAll reads what SaveAll wrote from parts of the same sizes, and no byte beyond: by its method Load a part
// that has it, and others, which are pointers or slices. After an error some of them are overwritten.
func LoadAll(r io.Reader, parts ...any) error {
	for _, part := range parts {
		var err error
		switch p := part.(type) {
		case interface{ Load(r io.Reader) error }:
			err = p.Load(r)
		default:
			err = binary.Read(r, binary.LittleEndian, p)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file is cut off")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
