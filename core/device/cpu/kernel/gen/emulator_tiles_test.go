package main

import (
	"encoding/binary"
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// tileData is a tile register: 16 rows of 16 words.
type tileData [16][16]uint32

// tile executes an AMX instruction, as the pages of each in volume 2 of Intel's manual define it.
func (e *emulator) tile(opcode string, o []operand.Op) {
	if opcode == "NOPS" {
		return
	}
	if opcode == "LDTILECFG" {
		e.configure(e.bytes(e.address(o[0].(operand.Mem)), 64))
		return
	}
	if e.tiles == nil {
		panic(opcode + " without a configuration")
	}
	switch opcode {
	case "TILERELEASE":
		e.tiles = nil
	case "TILEZERO":
		e.tiles[tileNumber(o[0])] = tileData{}
	case "TILELOADD", "TILELOADDT1":
		to := &e.tiles[tileNumber(o[1])]
		for r := range to {
			row := e.tileRow(o[0].(operand.Mem), r)
			for i := range to[r] {
				to[r][i] = binary.LittleEndian.Uint32(row[4*i:])
			}
		}
	case "TILESTORED":
		for r, words := range e.tiles[tileNumber(o[0])] {
			row := e.tileRow(o[1].(operand.Mem), r)
			for i, w := range words {
				binary.LittleEndian.PutUint32(row[4*i:], w)
			}
		}
	case "TDPBF16PS":
		multiply(&e.tiles[tileNumber(o[2])], &e.tiles[tileNumber(o[1])], &e.tiles[tileNumber(o[0])])
	default:
		panic("unknown instruction " + opcode)
	}
}

// configure accepts only palette 1 with eight whole tiles.
func (e *emulator) configure(config []byte) {
	for i := range 8 {
		if config[0] != 1 || config[1] != 0 || binary.LittleEndian.Uint16(config[16+2*i:]) != 64 || config[48+i] != 16 {
			panic("unknown tile configuration")
		}
	}
	e.tiles = new([8]tileData)
}

// tileRow returns row r of a tile in memory; the index register holds the stride of the rows.
func (e *emulator) tileRow(m operand.Mem, r int) []byte {
	stride := e.gp[m.Index.Asm()]
	m.Index = nil
	return e.bytes(e.address(m)+uint64(r)*stride, 64)
}

// multiply is TDPBF16PS: even and odd elements are added up separately, then to each other, then to
// the sum, with subnormal numbers taken as zeros everywhere.
func multiply(sum, a, b *tileData) {
	for m := range sum {
		var even, odd [16]float32
		for k, pair := range a[m] {
			for n := range even {
				even[n] = flushed(fma32(upper(pair<<16), upper(b[k][n]<<16), even[n]))
				odd[n] = flushed(fma32(upper(pair), upper(b[k][n]), odd[n]))
			}
		}
		for n := range even {
			sum[m][n] = math.Float32bits(flushed(flushed(number(sum[m][n])) + flushed(even[n]+odd[n])))
		}
	}
}

// upper returns the bfloat16 in the upper half of a word.
func upper(w uint32) float32 { return flushed(math.Float32frombits(w &^ 0xffff)) }

func flushed(x float32) float32 {
	if b := math.Float32bits(x); b&0x7f800000 == 0 {
		return math.Float32frombits(b & (1 << 31))
	}
	return x
}
