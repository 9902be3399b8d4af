package formula

import (
	"fmt"
	"io"
)

// blockRows is how many rows are evaluated at a time: registers of 4 KB, so that those of a formula
// fit the first cache.
const blockRows = 512

// Columns evaluates a formula of rows that may have whole-column functions. These are of columns that
// are measured first: in each of Passes, Begin, then Observe with all rows, then End. Then Score is of
// any rows, those that were measured or others. It is for one goroutine.
type Columns struct {
	program *Program
	machine *Machine
	columns []Column
	passes  [][]int // instructions of each pass
	final   []int
	terms   []int
	known   bool
	scratch []float32
}

// term is a part of the sum that a formula is.
type term struct {
	text string
	reg  int
}

// Columns compiles a formula of rows, one number each. Errors are *Error.
func (f *Formula) Columns(names Names, v Values) (*Columns, error) {
	b := newBuilder(f, names)
	b.whole = true
	result, err := b.scalar(f.root, "the formula")
	if err != nil {
		return nil, err
	}
	terms, err := b.split(f.root)
	if err != nil {
		return nil, err
	}
	p := b.program(result)
	p.terms = terms
	c := &Columns{program: p, machine: p.Machine(v, blockRows), final: needed(p.code, p.regs, result.reg)}
	var regs []int
	for _, t := range terms {
		regs = append(regs, t.reg)
	}
	c.terms = needed(p.code, p.regs, regs...)
	for level := 0; ; level++ {
		var args []int
		for _, col := range p.columns {
			if col.level == level {
				args = append(args, col.arg)
			}
		}
		if len(args) == 0 {
			break
		}
		c.passes = append(c.passes, needed(p.code, p.regs, args...))
	}
	for _, col := range p.columns {
		c.columns = append(c.columns, Column{column: col})
	}
	c.machine.columns, c.known = c.columns, len(c.columns) == 0
	return c, nil
}

// split compiles the terms of the sum that a formula is.
func (b *builder) split(n *node) (terms []term, err error) {
	switch {
	case n.kind == let:
		outer := b.bound[n.text]
		b.bound[n.text] = n.args[0]
		terms, err = b.split(n.args[1])
		b.bound[n.text] = outer
		return terms, err
	case n.kind == infix && (n.text == "+" || n.text == "-"):
		if terms, err = b.split(n.args[0]); err != nil {
			return nil, err
		}
		right := n.args[1]
		if n.text == "-" {
			right = &node{kind: unary, text: "-", args: []*node{right}, at: right.at}
		}
		v, err := b.numeric(right)
		return append(terms, term{b.source(right), v.reg}), err
	case n.kind == call && n.text == "mix":
		parts, weights, err := b.mixed(n)
		for i, p := range parts {
			if p, err = b.two(n, opDivide, p, weights); err != nil {
				return nil, err
			}
			terms = append(terms, term{b.source(n.args[2*i]) + " * rank(" + b.source(n.args[2*i+1]) + ")", p.reg})
		}
		return terms, err
	}
	v, err := b.numeric(n)
	return []term{{b.source(n), v.reg}}, err
}

// Passes is how many times all rows are observed before any is scored, 0 without whole-column
// functions.
func (c *Columns) Passes() int { return len(c.passes) }

// Known says whether the columns are measured.
func (c *Columns) Known() bool { return c.known }

// Begin forgets the columns of a pass.
func (c *Columns) Begin(pass int) {
	c.known = false
	c.of(pass, (*Column).begin)
}

// Observe adds so many rows of the values to the columns of a pass.
func (c *Columns) Observe(pass, rows int) {
	for first := 0; first < rows; first += blockRows {
		n := min(blockRows, rows-first)
		c.machine.steps(c.passes[pass], first, n)
		c.of(pass, func(col *Column) { col.add(c.machine.regs[col.arg][:n]) })
	}
}

// End completes a pass, with the last one all columns are known.
func (c *Columns) End(pass int) {
	c.of(pass, func(col *Column) { c.scratch = col.end(c.scratch) })
	c.known = pass == len(c.passes)-1
}

func (c *Columns) of(pass int, do func(*Column)) {
	for i := range c.columns {
		if c.columns[i].level == pass {
			do(&c.columns[i])
		}
	}
}

// Score writes the values of len(dst) rows.
func (c *Columns) Score(dst []float32) {
	c.each(len(dst), c.final, func(first, n int) {
		for i, x := range c.machine.regs[c.program.result.reg][:n] {
			dst[first+i] = float32(x)
		}
	})
}

// Terms lists the terms of the sum that the formula is, in its order; one if it is none.
func (c *Columns) Terms() []string {
	var texts []string
	for _, t := range c.program.terms {
		texts = append(texts, t.text)
	}
	return texts
}

// ScoreTerms writes the values of each term, of rows rows.
func (c *Columns) ScoreTerms(dst [][]float32, rows int) {
	c.each(rows, c.terms, func(first, n int) {
		for k, t := range c.program.terms {
			for i, x := range c.machine.regs[t.reg][:n] {
				dst[k][first+i] = float32(x)
			}
		}
	})
}

// each runs some instructions for blocks of rows and then takes them.
func (c *Columns) each(rows int, some []int, take func(first, n int)) {
	for first := 0; first < rows; first += blockRows {
		n := min(blockRows, rows-first)
		c.machine.steps(some, first, n)
		take(first, n)
	}
}

// Trouble says why the value of a row is not finite, as Machine.Trouble.
func (c *Columns) Trouble(row int) string { return c.machine.Trouble(row) }

// Save writes what was measured.
func (c *Columns) Save(w io.Writer) error {
	known := []byte{0}
	if c.known {
		known[0] = 1
	}
	if _, err := w.Write(known); err != nil {
		return err
	}
	for i := range c.columns {
		if err := c.columns[i].save(w); err != nil {
			return err
		}
	}
	return nil
}

// Load reads what Save wrote for the same formula.
func (c *Columns) Load(r io.Reader) error {
	var known [1]byte
	if _, err := io.ReadFull(r, known[:]); err != nil {
		return err
	}
	if known[0] > 1 {
		return fmt.Errorf("columns of a formula begin with %d", known[0])
	}
	for i := range c.columns {
		if err := c.columns[i].load(r); err != nil {
			return err
		}
	}
	c.known = known[0] == 1
	return nil
}
