package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
)

// maxChunk is the largest chunk that is unpacked, in bytes; h5py makes them of at most 1 MB by
// itself.
const maxChunk = 64 << 20

// Floats reads an array, last dimension first as in C, as float32. It panics if dst has not room
// for Len elements exactly.
func (o *Object) Floats(dst []float32) error {
	if uint64(len(dst)) != o.count {
		panic("hdf5: the memory for an array has another size")
	}
	switch {
	case o.group:
		return Refusal("it is a group")
	case o.unread != nil:
		return o.unread
	case o.count == 0:
		return nil
	case o.of.Size == 0:
		return damaged("an array without a type")
	}
	switch o.layout.kind {
	case compact:
		if uint64(len(o.layout.inside)) < o.count*uint64(o.of.Size) {
			return errShort
		}
		o.of.Decode(dst, o.layout.inside)
		return nil
	case contiguous:
		return o.contiguous(dst)
	}
	return o.chunks(dst)
}

// Check says whether the numbers of an array are in the file, or may be as far as one can see
// without unpacking them: before memory is taken for them.
func (o *Object) Check() error {
	switch {
	case o.group || o.unread != nil || o.layout.kind == compact:
		return o.unread
	case o.layout.address == none && o.count > 0:
		return Refusal("its numbers were never written")
	case o.layout.kind == contiguous && o.count*uint64(max(o.of.Size, 1)) > o.f.size:
		return damaged(fmt.Sprintf("an array of %d numbers in a file of %d bytes", o.count, o.f.size))
	case o.layout.kind == chunked && o.count/2048 > o.f.size: // deflate packs to a thousandth at best
		return damaged(fmt.Sprintf("an array of %d numbers in a file of %d bytes", o.count, o.f.size))
	}
	return nil
}

func (o *Object) contiguous(dst []float32) error {
	if err := o.Check(); err != nil {
		return err
	}
	each := o.of.Size
	if o.layout.size < o.count*uint64(each) || o.layout.address > o.f.size-o.f.base ||
		o.count*uint64(each) > o.f.size-o.f.base-o.layout.address {
		return damaged("an array reaches beyond its end")
	}
	buffer := make([]byte, min(len(dst)*each, 1<<20/each*each))
	for at := int64(o.f.base + o.layout.address); len(dst) > 0; {
		part := buffer[:min(len(buffer), len(dst)*each)]
		if _, err := o.f.r.ReadAt(part, at); err != nil {
			return fmt.Errorf("read: %w", err)
		}
		o.of.Decode(dst[:len(part)/each], part)
		dst, at = dst[len(part)/each:], at+int64(len(part))
	}
	return nil
}

// chunks reads an array in chunks. They come in the order of their places, so that each is there if
// there are enough of them.
func (o *Object) chunks(dst []float32) error {
	if err := o.Check(); err != nil {
		return err
	}
	if len(o.layout.chunk) != len(o.dims) {
		return damaged("chunks of other dimensions than their array")
	}
	elements, grid := uint64(1), uint64(1)
	for d, n := range o.layout.chunk {
		if n == 0 || elements > maxChunk/n {
			return Refusal(fmt.Sprintf("its chunks are larger than %d MiB", maxChunk>>20))
		}
		elements *= n
		grid *= (o.dims[d] + n - 1) / n // at most count
	}
	size := elements * uint64(o.of.Size)
	if size > maxChunk {
		return Refusal(fmt.Sprintf("its chunks are larger than %d MiB", maxChunk>>20))
	}
	if float64(grid)*float64(size) > 16*float64(o.count)*float64(o.of.Size)+maxChunk { // most of what is unpacked is outside of the array
		return Refusal("its chunks are much larger than what is in them")
	}
	r := chunkReader{o: o, dst: dst}
	err := o.f.walkTree(o.layout.address, treeOfChunks, len(o.dims), func(key *cursor, child uint64) error {
		return r.read(key, child, int(size))
	})
	if err == nil && r.next != grid {
		err = Refusal(fmt.Sprintf("only %d of its %d chunks were written", r.next, grid))
	}
	return err
}

// chunkReader reads the chunks of an array one after the other.
type chunkReader struct {
	o      *Object
	dst    []float32
	values []float32 // of a chunk, once one was unpacked: its size is true then
	next   uint64    // number of the next chunk
}

// read reads the chunk of a key into its place. The key is the bytes stored, the filters that were
// left out, and the place, with a zero for the bytes of an element.
func (r *chunkReader) read(key *cursor, address uint64, size int) error {
	stored, skipped := key.uint(4), key.uint(4)
	place := make([]uint64, len(r.o.dims))
	number := uint64(0)
	for d, n := range r.o.dims {
		place[d] = key.uint(8)
		chunk := r.o.layout.chunk[d]
		if key.err == nil && (place[d] >= n || place[d]%chunk != 0) {
			return damaged("a chunk outside of its array")
		}
		number = number*((n+chunk-1)/chunk) + place[d]/chunk
	}
	switch {
	case key.err != nil:
		return key.err
	case number > r.next:
		return Refusal(fmt.Sprintf("chunk %d was never written", r.next+1))
	case number < r.next:
		return damaged("chunks in disorder")
	}
	r.next++
	raw, err := r.o.f.unpacked(address, stored, r.o.filters, skipped, size, r.o.of.Size)
	if err != nil {
		return err
	}
	if r.values == nil {
		r.values = make([]float32, size/r.o.of.Size)
	}
	r.o.of.Decode(r.values, raw)
	r.put(place, 0, 0, r.values)
	return nil
}

// put copies the part of a chunk that is inside of the array, from dimension d on; at is the place
// of the dimensions before in the array.
func (r *chunkReader) put(place []uint64, d int, at uint64, values []float32) {
	chunk, dim := r.o.layout.chunk[d], r.o.dims[d]
	n := min(chunk, dim-place[d])
	if d == len(place)-1 {
		copy(r.dst[at*dim+place[d]:][:n], values)
		return
	}
	each := uint64(len(values)) / chunk
	for i := range n {
		r.put(place, d+1, at*dim+place[d]+i, values[i*each:(i+1)*each])
	}
}

// unpacked returns the bytes of a chunk, of that size, after its filters. Those whose bit of
// skipped is set were left out.
func (f *File) unpacked(address, stored uint64, filters []filter, skipped uint64, size, element int) ([]byte, error) {
	if address > f.size-f.base || stored > f.size-f.base-address || stored > maxChunk+1<<20 {
		return nil, damaged("a chunk reaches beyond its end")
	}
	raw := make([]byte, stored)
	if _, err := f.r.ReadAt(raw, int64(f.base+address)); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	for i := len(filters) - 1; i >= 0; i-- {
		if skipped>>i&1 != 0 {
			continue
		}
		var err error
		switch filters[i].id {
		case deflate:
			raw, err = f.inflate(raw, size+4*len(filters))
		case shuffle:
			if c := filters[i].client; len(c) > 0 {
				element = int(min(c[0], maxChunk))
			}
			raw = unshuffle(raw, element)
		case fletcher:
			raw, err = checked(raw)
		default:
			name := otherFilters[filters[i].id]
			if name == "" {
				name = fmt.Sprintf("a filter of number %d", filters[i].id)
			}
			return nil, Refusal("it is packed with " + name)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(raw) != size {
		return nil, damaged(fmt.Sprintf("a chunk of %d bytes instead of %d", len(raw), size))
	}
	return raw, nil
}

// inflate unpacks at most so many bytes, and one more.
func (f *File) inflate(packed []byte, most int) ([]byte, error) {
	var err error
	if f.z == nil {
		f.z, err = zlib.NewReader(bytes.NewReader(packed))
	} else {
		err = f.z.(zlib.Resetter).Reset(bytes.NewReader(packed), nil)
	}
	var out bytes.Buffer
	if err == nil {
		out.Grow(min(most, 8*len(packed)) + bytes.MinRead)
		_, err = out.ReadFrom(io.LimitReader(f.z, int64(most)+1))
	}
	if err != nil {
		return nil, damaged("a chunk cannot be unpacked: " + err.Error())
	}
	return out.Bytes(), nil
}

// unshuffle puts the bytes of elements together: first come all first bytes, then all second ones.
// What is left over at the end stays.
func unshuffle(b []byte, size int) []byte {
	if size < 2 {
		return b
	}
	n := len(b) / size
	out := make([]byte, len(b))
	for j := range size {
		if n == 0 {
			break
		}
		for i, v := range b[j*n : (j+1)*n] {
			out[i*size+j] = v
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}

// checked compares the checksum at the end of a chunk, and takes it off.
func checked(b []byte) ([]byte, error) {
	n := len(b) - 4
	if n < 0 {
		return nil, errShort
	}
	if binary.LittleEndian.Uint32(b[n:]) != fletcher32(b[:n]) {
		return nil, damaged("a chunk has another checksum")
	}
	return b[:n], nil
}
