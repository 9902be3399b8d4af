package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// encode replaces placeholder instructions by the bytes of AMX instructions, for which Go's
// assembler has no names.
func encode(file *ir.File) {
	for _, f := range file.Functions() {
		var nodes []ir.Node
		for _, n := range f.Nodes {
			in, ok := n.(*ir.Instruction)
			if !ok {
				nodes = append(nodes, n)
				continue
			}
			code := tileCode(in)
			if code == nil {
				nodes = append(nodes, n)
				continue
			}
			nodes = append(nodes, ir.NewComment(asm(in)))
			for len(code) >= 4 {
				nodes = append(nodes, &ir.Instruction{Opcode: "LONG", Operands: []operand.Op{operand.U32(binary.LittleEndian.Uint32(code))}})
				code = code[4:]
			}
			for _, b := range code {
				nodes = append(nodes, &ir.Instruction{Opcode: "BYTE", Operands: []operand.Op{operand.U8(b)}})
			}
		}
		f.Nodes = nodes
	}
}

func asm(in *ir.Instruction) string {
	text := []string{}
	for _, o := range in.Operands {
		text = append(text, o.Asm())
	}
	return in.Opcode + " " + strings.Join(text, ", ")
}

// tileCode returns the encoding of an AMX instruction, VEX.128 of map 0F38 (Intel's manual, volume
// 2), or of a few no-operations; nil for other instructions. Operands are in Go's order, the result
// last.
func tileCode(in *ir.Instruction) []byte {
	const np, p66, pF3, pF2 = 0, 1, 2, 3
	switch in.Opcode {
	case "NOPS":
		return bytes.Repeat([]byte{0x90}, int(in.Operands[0].(operand.U8)))
	case "LDTILECFG":
		return memoryCode(np, 0x49, 0, in.Operands[0].(mem))
	case "TILERELEASE":
		return []byte{0xc4, 0xe2, 0x78, 0x49, 0xc0}
	case "TILEZERO":
		return []byte{0xc4, 0xe2, 0x78 | pF2, 0x49, 0xc0 | tileNumber(in.Operands[0])<<3}
	case "TILELOADD":
		return memoryCode(pF2, 0x4b, tileNumber(in.Operands[1]), in.Operands[0].(mem))
	case "TILELOADDT1":
		return memoryCode(p66, 0x4b, tileNumber(in.Operands[1]), in.Operands[0].(mem))
	case "TILESTORED":
		return memoryCode(pF3, 0x4b, tileNumber(in.Operands[0]), in.Operands[1].(mem))
	case "TDPBF16PS":
		b, a, sum := tileNumber(in.Operands[0]), tileNumber(in.Operands[1]), tileNumber(in.Operands[2])
		return []byte{0xc4, 0xe2, (15-b)<<3 | pF3, 0x5c, 0xc0 | sum<<3 | a}
	}
	return nil
}

func tileNumber(o op) byte { return byte(o.(operand.U8)) }

// memoryCode encodes an instruction on a tile and a memory operand, always with a four-byte
// displacement; the index is the stride of the tile's rows.
func memoryCode(prefix, opcode, tile byte, m mem) []byte {
	base, index := hardware(m.Base), byte(4) // none
	inverted := byte(0xe0)
	if m.Index != nil {
		index = hardware(m.Index)
	}
	if base >= 8 {
		inverted &^= 0x20
	}
	if index >= 8 {
		inverted &^= 0x40
	}
	code := []byte{0xc4, inverted | 2, 0x78 | prefix, opcode, 0x84 | tile<<3, index&7<<3 | base&7}
	return binary.LittleEndian.AppendUint32(code, uint32(m.Disp))
}

// hardware returns the number of a register in instruction encodings.
func hardware(r reg.Register) byte {
	numbers := map[string]byte{"AX": 0, "CX": 1, "DX": 2, "BX": 3, "BP": 5, "SI": 6, "DI": 7}
	if n, ok := numbers[r.Asm()]; ok {
		return n
	}
	var n byte
	if _, err := fmt.Sscanf(r.Asm(), "R%d", &n); err != nil || n < 8 || n > 15 {
		panic("no base or index: " + r.Asm())
	}
	return n
}
