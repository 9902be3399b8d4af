package ptx

import "math/bits"

// shape is a matrix product of a warp: d (m x n) = a (m x k) b (k x n) + c,
// for m = 16 and n = 8.
type shape struct {
	k    int
	part int // number of products that a card adds up before it rounds
	kind kind
	a, b int // number of registers of each operand
}

// shapes holds the supported shapes.
var shapes = map[string][]shape{
	"m16n8k4":  {{k: 4, part: 4, kind: tf32, a: 2, b: 1}},
	"m16n8k8":  {{k: 8, part: 4, kind: tf32, a: 4, b: 2}, {k: 8, part: 8, kind: bf16, a: 2, b: 1}},
	"m16n8k16": {{k: 16, part: 8, kind: bf16, a: 4, b: 2}},
}

// lowerMatrix is mma.sync with f32 sums. The products are exact; a card adds
// some of them and the sum so far with truncation (Fasi, Higham, Mikaitis,
// Pranesh: Numerical behavior of NVIDIA tensor cores, 2021): here their exact
// sum is rounded to zero. The low 13 bits of a tf32 operand are ignored.
func lowerMatrix(l *lowering, s *statement, m *mods) {
	if !m.take("sync") || !m.take("aligned") || !m.take("row") || !m.take("col") {
		l.fail("mma needs .sync.aligned and .row.col")
	}
	var sh shape
	name := m.one("m16n8k4", "m16n8k8", "m16n8k16")
	dk, ak, bk, ck := m.kind(), m.kind(), m.kind(), m.kind()
	for _, x := range shapes[name] {
		if x.kind == ak {
			sh = x
		}
	}
	l.requires(80)
	if sh.k == 0 || ak != bk || dk != f32 || ck != f32 {
		l.fail("unknown opcode %s", s.text)
	}
	l.need(4)
	in := blank(classWarp)
	counts := []int{4, sh.a, sh.b, 4}
	for i, o := range s.args {
		if o.kind != opVector || len(o.list) != counts[i] {
			l.fail("operand %d of mma.%s.%s needs %d registers", i+1, name, ak, counts[i])
		}
		for _, r := range o.list {
			switch i {
			case 0:
				in.outs = append(in.outs, l.dest(r, f32))
			case 3:
				in.ins = append(in.ins, l.value(r, f32))
			default:
				in.ins = append(in.ins, l.value(r, b32))
			}
		}
	}
	in.do = func(w *warp, in *inst, at uint32) error {
		if at != full {
			return w.fault(in, at, "mma needs all 32 threads of the warp, only those of mask %#x are here", at)
		}
		w.matrix(in, &sh)
		return nil
	}
	l.emit(in)
}

// matrix multiplies. Lane 4g+t holds these fragments: of a, in register r, rows g (r
// even) and g+8 (r odd), columns t or 2t and 2t+1, from the second half of k for r >= 2;
// of b, column g and the rows that correspond to a's columns; of c and d, rows g and g+8
// (registers 2 and 3), columns 2t and 2t+1.
func (w *warp) matrix(in *inst, sh *shape) {
	var a [16][16]float64 // [row][k]
	var b [8][16]float64  // [column][k]
	var c [16][8]float64
	width := 32 / sh.kind.bits() // values in a register; tf32 has 1
	if sh.kind == tf32 {
		width = 1
	}
	half := 4 * width
	for lane := range lanes {
		g, t := lane/4, lane%4
		for r := range sh.a {
			x := w.at(in.ins[r])[lane]
			for h := range width {
				a[g+8*(r&1)][t*width+h+half*(r/2)] = matrixValue(x, h, sh.kind)
			}
		}
		for r := range sh.b {
			x := w.at(in.ins[sh.a+r])[lane]
			for h := range width {
				b[g][t*width+h+half*r] = matrixValue(x, h, sh.kind)
			}
		}
		for r := range 4 {
			c[g+8*(r/2)][2*t+r&1] = float64(single(w.at(in.ins[sh.a+sh.b+r])[lane]))
		}
	}
	for i := range c {
		for j := range c[i] {
			sum := c[i][j]
			for k := 0; k < sh.k; k += sh.part {
				for l := k; l < k+sh.part; l++ {
					sum += a[i][l] * b[j][l]
				}
				sum = float64(round32(sum, 'z'))
			}
			c[i][j] = sum
		}
	}
	for lane := range lanes {
		g, t := lane/4, lane%4
		for r := range 4 {
			w.regs[in.outs[r]][lane] = fromSingle(float32(c[g+8*(r/2)][2*t+r&1]))
		}
	}
}

// matrixValue reads value h of a register.
func matrixValue(x uint64, h int, k kind) float64 {
	if k == tf32 {
		return float64(single(x &^ (1<<13 - 1)))
	}
	return float64(widenBF16(x >> (16 * h)))
}

// pick returns the lowest lane of a mask.
func pick(at uint32) int { return bits.TrailingZeros32(at) & 31 }
