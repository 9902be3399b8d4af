package hdf5

import (
	"encoding/binary"
	"math/bits"
)

// lookup3 is the checksum of structures: hashlittle of lookup3.c (Bob Jenkins, 2006), from 0 on.
func lookup3(k []byte) uint32 {
	a := 0xdeadbeef + uint32(len(k))
	b, c := a, a
	for len(k) > 12 {
		a += binary.LittleEndian.Uint32(k)
		b += binary.LittleEndian.Uint32(k[4:])
		c += binary.LittleEndian.Uint32(k[8:])
		a, b, c = mix(a, b, c)
		k = k[12:]
	}
	if len(k) == 0 {
		return c
	}
	var last [12]byte
	copy(last[:], k)
	a += binary.LittleEndian.Uint32(last[:])
	b += binary.LittleEndian.Uint32(last[4:])
	c += binary.LittleEndian.Uint32(last[8:])
	for _, r := range [][2]int{{14, 0}, {11, 1}, {25, 2}, {16, 0}, {4, 1}, {14, 2}, {24, 0}} {
		switch r[1] {
		case 0:
			c = (c ^ b) - bits.RotateLeft32(b, r[0])
		case 1:
			a = (a ^ c) - bits.RotateLeft32(c, r[0])
		default:
			b = (b ^ a) - bits.RotateLeft32(a, r[0])
		}
	}
	return c
}

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a = (a - c) ^ bits.RotateLeft32(c, 4)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 6)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 8)
	b += a
	a = (a - c) ^ bits.RotateLeft32(c, 16)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 19)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

// fletcher32 is the checksum of the filter of that name: over big-endian words of two bytes, the
// last one filled up with a zero.
func fletcher32(data []byte) uint32 {
	var a, b uint32
	for len(data) > 0 {
		part := data[:min(len(data), 720)] // so many words leave the sums below 2³²
		data = data[len(part):]
		for ; len(part) > 1; part = part[2:] {
			a += uint32(part[0])<<8 | uint32(part[1])
			b += a
		}
		if len(part) == 1 {
			a += uint32(part[0]) << 8
			b += a
		}
		a, b = a&0xffff+a>>16, b&0xffff+b>>16
	}
	a, b = a&0xffff+a>>16, b&0xffff+b>>16
	return b<<16 | a
}
