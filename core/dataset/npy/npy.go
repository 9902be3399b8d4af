// Package npy reads arrays of numbers in NumPy's formats: npy, versions 1 to 3 (numpy.lib.format),
// and npz, an archive of them.
package npy

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"pgrlab/core/dataset/element"
)

const (
	magic = "\x93NUMPY"

	maxHeader   = 1 << 16 // bytes; NumPy itself refuses those of more than 10,000
	maxElements = 1 << 44 // so that products of sizes stay in a uint64
	maxArrays   = 1 << 12 // of an archive
	bufferBytes = 1 << 18
)

// Header is what an npy file says about its array.
type Header struct {
	Of      element.Type
	Fortran bool // the first dimension changes first
	Shape   []uint64
}

// Len is the number of elements.
func (h Header) Len() uint64 {
	n := uint64(1)
	for _, d := range h.Shape {
		n *= d
	}
	return n
}

// Refusal is the error of an array of something else than numbers.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// damaged is the error of a file that is not what its name says.
type damaged string

func (d damaged) Error() string { return "the file is damaged: " + string(d) }

// Archive is an npz file. It belongs to one goroutine.
type Archive struct {
	files map[string]*zip.File
}

// Open reads the list of an archive's arrays.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, damaged(err.Error())
	}
	if len(z.File) > maxArrays {
		return nil, damaged(fmt.Sprintf("an archive of %d arrays", len(z.File)))
	}
	a := &Archive{map[string]*zip.File{}}
	for _, f := range z.File {
		name, is := strings.CutSuffix(f.Name, ".npy")
		if !is {
			continue
		}
		if f.CompressedSize64 > uint64(size) { // of which memory is taken
			return nil, damaged(fmt.Sprintf("%q claims %d bytes in a file of %d", f.Name, f.CompressedSize64, size))
		}
		if a.files[name] != nil {
			return nil, damaged(fmt.Sprintf("two arrays of the name %q", name))
		}
		a.files[name] = f
	}
	return a, nil
}

// Names returns the names of the arrays.
func (a *Archive) Names() map[string]bool {
	all := make(map[string]bool, len(a.files))
	for name := range a.files {
		all[name] = true
	}
	return all
}

// Array is an array of an archive whose numbers were not read yet.
type Array struct {
	Header
	file *zip.File
}

// Array reads the header of an array. The size that the archive says it has must fit.
func (a *Archive) Array(name string) (Array, error) {
	f := a.files[name]
	if f == nil {
		return Array{}, fmt.Errorf("no array %q", name)
	}
	r, err := f.Open()
	if err != nil {
		return Array{}, damaged(err.Error())
	}
	defer r.Close()
	h, err := ReadHeader(r)
	if err != nil {
		return Array{}, err
	}
	if want := h.Len() * uint64(h.Of.Size); want > f.UncompressedSize64 {
		return Array{}, damaged(fmt.Sprintf("an array of %d bytes in %d", want, f.UncompressedSize64))
	}
	if f.UncompressedSize64/2048 > f.CompressedSize64 { // deflate packs to a thousandth at best
		return Array{}, damaged(fmt.Sprintf("%d bytes packed into %d", f.UncompressedSize64, f.CompressedSize64))
	}
	return Array{h, f}, nil
}

// Floats reads an array, last dimension first as in C, as float32, and checks the archive's
// checksum. It panics if dst has not room for Len elements exactly.
func (a Array) Floats(dst []float32) error {
	r, err := a.file.Open()
	if err != nil {
		return damaged(err.Error())
	}
	defer r.Close()
	if _, err := ReadHeader(r); err != nil {
		return err
	}
	if err := a.Header.Floats(r, dst); err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); err != nil { // the checksum comes at the end
		return damaged(err.Error())
	} else if n > 0 {
		return damaged("an array goes on after its end")
	}
	return nil
}

// ReadHeader reads the header of an npy file.
func ReadHeader(r io.Reader) (Header, error) {
	head := make([]byte, len(magic)+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return Header{}, damaged("an array is cut off")
	}
	if string(head[:len(magic)]) != magic {
		return Header{}, damaged("no NumPy array where one should be")
	}
	n := int64(binary.LittleEndian.Uint16(head[8:]))
	switch head[6] {
	case 1:
	case 2, 3:
		var more [2]byte
		if _, err := io.ReadFull(r, more[:]); err != nil {
			return Header{}, damaged("an array is cut off")
		}
		n |= int64(binary.LittleEndian.Uint16(more[:])) << 16
	default:
		return Header{}, Refusal(fmt.Sprintf("an array of version %d, which is newer than this reader", head[6]))
	}
	if n > maxHeader {
		return Header{}, damaged(fmt.Sprintf("a header of %d bytes", n))
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return Header{}, damaged("an array is cut off")
	}
	return parseHeader(string(text))
}

// parseHeader reads the dictionary of a header: descr, fortran_order and shape.
func parseHeader(text string) (h Header, err error) {
	body, is := strings.CutPrefix(strings.TrimSpace(text), "{")
	if !is {
		return h, damaged("an array's header is no dictionary")
	}
	seen := 0
	for body = strings.TrimLeft(body, " ,"); body != "" && body[0] != '}'; body = strings.TrimLeft(body, " ,") {
		key, after, err := quoted(body)
		if err != nil {
			return h, err
		}
		if body, is = strings.CutPrefix(strings.TrimLeft(after, " "), ":"); !is {
			return h, damaged("an array's header is no dictionary")
		}
		body = strings.TrimLeft(body, " ")
		switch key {
		case "descr":
			if strings.HasPrefix(body, "[") {
				return h, Refusal("its elements are records")
			}
			var descr string
			if descr, body, err = quoted(body); err == nil {
				h.Of, err = elementType(descr)
			}
		case "fortran_order":
			if body, h.Fortran = strings.CutPrefix(body, "True"); !h.Fortran {
				if body, is = strings.CutPrefix(body, "False"); !is {
					err = damaged("an array's order is neither of two")
				}
			}
		case "shape":
			h.Shape, body, err = shape(body)
		default:
			err = damaged(fmt.Sprintf("an array's header with %q", key))
		}
		if err != nil {
			return h, err
		}
		seen++
	}
	if seen != 3 || h.Of.Size == 0 {
		return h, damaged("an array's header lacks something")
	}
	return h, nil
}

// quoted reads a string in quotes.
func quoted(text string) (s, after string, err error) {
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		if end := strings.IndexByte(text[1:], text[0]); end >= 0 {
			return text[1 : end+1], text[end+2:], nil
		}
	}
	return "", "", damaged("an array's header is no dictionary")
}

// shape reads a tuple of sizes.
func shape(text string) (dims []uint64, after string, err error) {
	end := strings.IndexByte(text, ')')
	if end < 0 || text[0] != '(' {
		return nil, "", damaged("an array's shape is no tuple")
	}
	count := uint64(1)
	for word := range strings.SplitSeq(text[1:end], ",") {
		if word = strings.TrimSuffix(strings.TrimSpace(word), "L"); word == "" {
			continue
		}
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil || n > maxElements || n > 0 && count > maxElements/n || len(dims) == 32 {
			return nil, "", damaged(fmt.Sprintf("an array of shape %.60q", text[:end+1]))
		}
		dims = append(dims, n)
		count *= max(n, 1)
	}
	return dims, text[end+1:], nil
}

// elementType reads a NumPy type, such as <f4.
func elementType(descr string) (element.Type, error) {
	t := element.Type{Order: binary.ByteOrder(binary.LittleEndian)}
	if len(descr) < 2 || !strings.Contains("<>|=", descr[:1]) {
		return t, damaged(fmt.Sprintf("elements of type %.20q", descr))
	}
	if descr[0] == '>' {
		t.Order = binary.BigEndian
	}
	size, err := strconv.Atoi(descr[2:])
	t.Size = size
	switch kind := descr[1]; kind {
	case 'f':
		t.Kind = element.Float
	case 'i':
		t.Kind = element.Int
	case 'u':
		t.Kind = element.Uint
	case 'b':
		t.Kind = element.Bool
	case 'O':
		return t, Refusal("its elements are Python objects, and reading them would run code")
	default:
		return t, Refusal(fmt.Sprintf("its elements are of NumPy's type %.20q, not numbers", descr))
	}
	if err == nil {
		err = t.Validate()
	}
	if err != nil {
		return t, Refusal(fmt.Sprintf("its elements are of NumPy's type %.20q", descr))
	}
	return t, nil
}

// Floats reads the numbers that follow a header, last dimension first as in C, as float32.
// It panics if dst has not room for Len elements exactly.
func (h Header) Floats(r io.Reader, dst []float32) error {
	if uint64(len(dst)) != h.Len() {
		panic("npy: the memory for an array has another size")
	}
	into := dst
	if h.Fortran && len(h.Shape) > 1 {
		into = make([]float32, len(dst))
	}
	buffer := make([]byte, min(bufferBytes/h.Of.Size, len(dst))*h.Of.Size)
	for rest := into; len(rest) > 0; {
		part := buffer[:min(len(buffer), len(rest)*h.Of.Size)]
		if _, err := io.ReadFull(r, part); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return damaged("an array is cut off")
			}
			return damaged(err.Error())
		}
		n := len(part) / h.Of.Size
		h.Of.Decode(rest[:n], part)
		rest = rest[n:]
	}
	if h.Fortran && len(h.Shape) > 1 {
		transpose(dst, into, h.Shape)
	}
	return nil
}

// transpose copies an array in Fortran's order into C's.
func transpose(dst, src []float32, shape []uint64) {
	if len(src) == 0 {
		return
	}
	place := make([]uint64, len(shape))
	strides := make([]uint64, len(shape)) // in dst
	stride := uint64(1)
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = stride
		stride *= shape[d]
	}
	at := uint64(0)
	for _, v := range src {
		dst[at] = v
		for d := range place { // the next place, first dimension first
			at += strides[d]
			if place[d]++; place[d] < shape[d] {
				break
			}
			at -= strides[d] * shape[d]
			place[d] = 0
		}
	}
}
