package formula

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// column is a column that a whole-column function is of.
type column struct {
	function string
	arg      int     // register of its values
	share    float64 // p of quantile_all
	level    int     // it is measured in this pass: one after the columns that its values depend on
}

// columnLevel is the level of the columns that a register depends on, -1 without any.
func (b *builder) columnLevel(reg int) int {
	level := -1
	for _, i := range needed(b.code, b.regs, reg) {
		if in := b.code[i]; in.op == opColumn {
			level = max(level, b.columns[in.slot].level)
		}
	}
	return level
}

// column compiles a whole-column function.
func (b *builder) column(n *node) (value, error) {
	x, err := b.scalar(n.args[0], n.text)
	if err != nil {
		return x, err
	}
	c := column{function: n.text, arg: x.reg}
	switch n.text {
	case "median_all":
		c.share = 0.5
	case "quantile_all":
		if c.share, err = b.literal(n.args[1], "quantile_all"); err != nil {
			return x, err
		}
		if !(c.share >= 0 && c.share <= 1) {
			return x, b.fail(n.args[1], "quantile_all needs a share from 0 to 1, not %s", brief(c.share))
		}
	}
	return b.ofColumn(n, c)
}

// ofColumn emits what a column says.
func (b *builder) ofColumn(n *node, c column) (value, error) {
	c.level = 1 + b.columnLevel(c.arg)
	at := slices.Index(b.columns, c)
	if at < 0 {
		at = len(b.columns)
		b.columns = append(b.columns, c)
	}
	in := instruction{op: opColumn, slot: at, name: b.source(n)}
	if c.ofRow() {
		in.args = []int{c.arg}
	}
	return b.emit(n, in, 0)
}

// ofRow says whether the function has a value for each row.
func (c column) ofRow() bool {
	return c.function == "rank" || c.function == "zscore" || c.function == "scale"
}

// sorts says whether a column is kept, sorted.
func (c column) sorts() bool {
	return c.function == "rank" || c.function == "median_all" || c.function == "quantile_all"
}

// mix compiles the sum of weight · rank over the sum of weights.
func (b *builder) mix(n *node) (value, error) {
	parts, weights, err := b.mixed(n)
	if err != nil {
		return value{}, err
	}
	var all value
	for i, p := range parts {
		if i == 0 {
			all = p
		} else if all, err = b.two(n, opAdd, all, p); err != nil {
			return all, err
		}
	}
	return b.two(n, opDivide, all, weights)
}

// mixed returns the parts of a mix, weight · rank each, and the sum of the weights.
func (b *builder) mixed(n *node) (parts []value, weights value, err error) {
	if len(n.args)%2 != 0 {
		return nil, weights, b.fail(n, "mix takes pairs of a weight and a value: mix(0.7, td, 0.3, curiosity)")
	}
	sum := 0.0
	for i := 0; i < len(n.args); i += 2 {
		w, err := b.literal(n.args[i], "a weight of mix")
		if err != nil {
			return nil, weights, err
		}
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, weights, b.fail(n.args[i], "a weight of mix is %s, want a positive number", brief(w))
		}
		sum += w
		x, err := b.scalar(n.args[i+1], "mix")
		if err != nil {
			return nil, weights, err
		}
		rank, err := b.ofColumn(n.args[i+1], column{function: "rank", arg: x.reg})
		if err != nil {
			return nil, weights, err
		}
		part, err := b.two(n.args[i+1], opMultiply, b.constant(w), rank)
		if err != nil {
			return nil, weights, err
		}
		parts = append(parts, part)
	}
	return parts, b.constant(sum), nil
}

// needed lists the instructions, in order, that compute some registers.
func needed(code []instruction, regs []register, wanted ...int) []int {
	var some []int
	need := make([]bool, len(regs))
	for _, w := range wanted {
		need[w] = true
	}
	for i := len(regs) - 1; i >= 0; i-- { // a part comes after what it is of
		if need[i] && regs[i].part {
			need[regs[i].of] = true
		}
	}
	for i := len(code) - 1; i >= 0; i-- {
		in := code[i]
		if !need[in.out] {
			continue
		}
		some = append(some, i)
		for _, a := range in.args {
			for need[a] = true; regs[a].part; need[a] = true {
				a = regs[a].of
			}
		}
	}
	slices.Reverse(some)
	return some
}

// Column is what is known of a column.
type Column struct {
	column
	Rows      int
	sum, dev  float64 // mean and standard deviation, when it is measured
	low, high float64
	sorted    []float32 // of a function that needs it; unsorted while it is measured
}

// begin forgets everything.
func (c *Column) begin() {
	*c = Column{column: c.column, sorted: c.sorted[:0], low: math.Inf(1), high: math.Inf(-1)}
}

// add takes the values of more rows. Sums go in the order of the rows.
func (c *Column) add(xs []float64) {
	for _, x := range xs {
		// Welford's update: mean and sum of squared deviations so far.
		c.Rows++
		d := x - c.sum
		c.sum += d / float64(c.Rows)
		product := d * (x - c.sum)
		c.dev += float64(product)
		c.low, c.high = min(c.low, x), max(c.high, x)
		if c.sorts() {
			c.sorted = append(c.sorted, float32(x))
		}
	}
}

// end is called after the last row.
func (c *Column) end(scratch []float32) []float32 {
	if c.Rows > 0 {
		c.dev = math.Sqrt(c.dev / float64(c.Rows))
	}
	if c.low == c.high {
		c.dev = 0
	}
	return sortColumn(c.sorted, scratch)
}

// at writes what the column says of rows with values x.
func (c *Column) at(out, x []float64) {
	switch c.function {
	case "rank":
		for i := range out {
			out[i] = c.rank(x[i])
		}
	case "zscore":
		for i := range out {
			out[i] = 0
			if c.dev != 0 {
				out[i] = (x[i] - c.sum) / c.dev
			}
		}
	case "scale":
		for i := range out {
			out[i] = 0
			if c.high != c.low {
				out[i] = (x[i] - c.low) / (c.high - c.low)
			}
		}
	default:
		one := map[string]float64{"mean_all": c.sum, "std_all": c.dev}[c.function]
		if c.sorts() {
			one = c.quantile()
		}
		for i := range out {
			out[i] = one
		}
	}
}

// rank is the mean of the ranks of the rows with the value x, or where x would stand, from 0 to 1.
func (c *Column) rank(x float64) float64 {
	if x != x {
		return x
	}
	n, y := len(c.sorted), float32(x)
	if n < 2 {
		return 0
	}
	below := search(c.sorted, y)
	upTo := below
	if below < n && c.sorted[below] == y {
		if upTo++; y > math.MaxFloat32 {
			upTo = n // nothing comes after infinity
		} else if upTo < n && c.sorted[upTo] == y {
			upTo += search(c.sorted[upTo:], math.Nextafter32(y, float32(math.Inf(1))))
		}
	}
	return min(max(float64(below+upTo-1)/2/float64(n-1), 0), 1)
}

// search is how many of sorted values are smaller than y.
func search(sorted []float32, y float32) int {
	low, n := 0, len(sorted)
	for n > 1 { // without branches that depend on the values
		half := n / 2
		if sorted[low+half-1] < y {
			low += half
		}
		n -= half
	}
	if n == 1 && sorted[low] < y {
		low++
	}
	return low
}

// quantile is the value at the column's share, between two rows on the line that joins them.
func (c *Column) quantile() float64 {
	n := len(c.sorted)
	if n == 0 {
		return 0
	}
	at := c.share * float64(n-1)
	i := min(int(at), n-1)
	low, high := float64(c.sorted[i]), float64(c.sorted[min(i+1, n-1)])
	step := (high - low) * (at - float64(i))
	return low + float64(step)
}

// save writes what was measured.
func (c *Column) save(w io.Writer) error {
	head := []uint64{uint64(c.Rows), math.Float64bits(c.sum), math.Float64bits(c.dev), math.Float64bits(c.low), math.Float64bits(c.high), uint64(len(c.sorted))}
	if err := binary.Write(w, binary.LittleEndian, head); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, c.sorted)
}

// mostRows is the most rows that a column in a file may have.
const mostRows = 1 << 28

// load reads what save wrote.
func (c *Column) load(r io.Reader) error {
	var head [6]uint64
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return err
	}
	n := head[5]
	if head[0] > mostRows || n != 0 && (n != head[0] || !c.sorts()) {
		return fmt.Errorf("the column %s has %d rows and %d sorted values", c.function, head[0], n)
	}
	c.Rows, c.sum, c.dev, c.low, c.high = int(head[0]), math.Float64frombits(head[1]), math.Float64frombits(head[2]), math.Float64frombits(head[3]), math.Float64frombits(head[4])
	c.sorted = c.sorted[:0]
	for len(c.sorted) < int(n) { // in blocks: the file may be shorter than it says
		block := make([]float32, min(1<<16, int(n)-len(c.sorted)))
		if err := binary.Read(r, binary.LittleEndian, block); err != nil {
			return err
		}
		c.sorted = append(c.sorted, block...)
	}
	return nil
}
