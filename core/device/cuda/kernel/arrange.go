package kernel

import (
	"maps"
	"math"
	"slices"

	"pgrlab/core/device"
)

// Arrange returns p with its instructions in the order in which Segments makes the fewest launches of them, and for each
// its place in p. Random numbers come just before their first reader. Results that no instruction reads come last, those of
// one kind together: sums over rows and losses, small gradients of weights, and large ones of layers of one shape.
func Arrange(p *device.Program, t Target) (arranged *device.Program, order []int) {
	u := usersOf(p)
	groups := map[any][]int{}
	var keys []any
	for i, in := range p.Instrs {
		if key := u.atEnd(in, t); key != nil {
			if groups[key] == nil {
				keys = append(keys, key)
			}
			groups[key] = append(groups[key], i)
		}
	}
	late := map[int]bool{}
	var last []int
	standing := map[device.Ref]bool{}
	for _, key := range keys {
		if all := u.apart(groups[key], t, standing); len(all) > 1 {
			last = append(last, all...)
			for _, i := range all {
				late[i] = true
			}
		}
	}
	fills := map[device.Ref]int{}
	for i, in := range p.Instrs {
		if late[i] {
			continue
		}
		if u.fills(in) {
			fills[in.Out] = i
			continue
		}
		for _, r := range operandsOf(in) {
			if fill, waits := fills[r]; waits {
				order = append(order, fill)
				delete(fills, r)
			}
		}
		order = append(order, i)
	}
	order = append(order, slices.Sorted(maps.Values(fills))...) // which no instruction reads
	order = append(order, last...)
	arranged = new(device.Program)
	*arranged = *p
	arranged.Instrs = nil
	for _, i := range order {
		arranged.Instrs = append(arranged.Instrs, p.Instrs[i])
	}
	return arranged, withSquares(arranged, order, t)
}

// Squares is an instruction that Arrange adds after large gradients that are one product: the sums of their squares, In, by block of
// threads, float64 in the place of two numbers each, Out. Whatever makes In makes Out too, and Finish reads it instead of In.
const Squares = device.Codes

// withSquares adds instructions Squares to an arranged program, and −1 for each to order.
func withSquares(p *device.Program, order []int, t Target) (longer []int) {
	if p.Adam == nil || !t.Has("squares") {
		return order
	}
	u := usersOf(p)
	from := p.Instrs
	p.Instrs, p.Buffers = nil, slices.Clone(p.Buffers)
	for i := 0; i < len(from); {
		all := 1
		k, stack := u.atEnd(from[i], t).(stacked)
		for stack && i+all < len(from) && u.atEnd(from[i+all], t) == any(k) {
			all++
		}
		p.Instrs, longer = append(p.Instrs, from[i:i+all]...), append(longer, order[i:i+all]...)
		if w := k.product(all); stack && all > 1 && divide(w, t).squares(w) {
			in := device.Instr{Code: Squares, Out: device.Ref(len(p.Buffers)), Mask: device.None}
			for _, made := range from[i : i+all] {
				in.In = append(in.In, made.Out)
			}
			p.Buffers = append(p.Buffers, device.Buffer{Name: "squares of gradients", Members: 1, Rows: 1, Cols: 2 * w.blocks(divide(w, t).tile)})
			p.Instrs, longer = append(p.Instrs, in), append(longer, -1)
		}
		i += all
	}
	return longer
}

// product is the product of that many gradients of the kind, without its operands.
func (k stacked) product(members int) product {
	w := plain(tn, k.in, k.out, k.rows, members)
	w.strideA = k.rows * k.in
	return w
}

// squares reports whether the kernel of a division can sum the squares of what it makes.
func (d division) squares(p product) bool {
	return d.packed && d.splits == 1 && d.rows == p.m && p.n%4 == 0
}

// fills reports whether an instruction fills a buffer of which no other one has the memory.
func (u *users) fills(in device.Instr) bool {
	if in.Code != device.FillNormal && in.Code != device.FillUniform || u.writes[in.Out] != 1 {
		return false
	}
	for r := range u.program.Buffers {
		if ref := device.Ref(r); ref != in.Out && memoryOf(u.program, ref) == memoryOf(u.program, in.Out) {
			return false
		}
	}
	return true
}

// operandsOf returns what an instruction reads.
func operandsOf(in device.Instr) []device.Ref { return append(slices.Clone(in.In), in.Mask) }

// stacked is the kind of gradients of weights that may be one product: the layer's rows, inputs and outputs.
type stacked struct{ rows, in, out int }

// several is the kind of small gradients of weights that may be one launch, whatever their sizes.
type several struct{}

// severalElements bounds a result of such a launch: larger products fill a card by themselves.
const severalElements = 1 << 20

// summed is the kind of sums that may be one launch: over rows, and of losses.
type summed struct{}

// atEnd returns the kind of an instruction that may be done with others of its kind at the end of a program; nil if it may
// not: an instruction reads what it makes, or its operands do not stay as they are until then.
func (u *users) atEnd(in device.Instr, t Target) any {
	p := u.program
	if len(in.In) == 0 || u.readers[in.Out] > 0 || p.Buffers[in.Out].Host != nil || u.writes[in.Out] > 1 {
		return nil
	}
	for _, r := range in.In {
		if p.Buffers[r].Host != nil && slices.Contains(p.Written(), r) || u.writes[r] > 1 {
			return nil
		}
	}
	x := p.Buffers[in.In[0]]
	switch in.Code {
	case device.ColSum:
		if _, rows, _, most := columnsOf(p, in); t.Has("sums") && x.Len() > 0 && rows <= most {
			return summed{}
		}
	case device.LinearDW, device.LinearJoinedDW:
		return u.weights(in, t)
	case device.SquaredError, device.WeightedSquaredError, device.EntropyLoss:
		if t.Has("sums") && x.Len() <= sumAlone {
			return summed{}
		}
	}
	return nil
}

// weights is atEnd for the gradient of a layer's weights.
func (u *users) weights(in device.Instr, t Target) any {
	p := u.program
	x, dz, out := p.Buffers[in.In[0]], p.Buffers[in.In[len(in.In)-1]], p.Buffers[in.Out]
	w := plain(tn, out.Rows, out.Cols, x.Rows, out.Members)
	switch k := (stacked{x.Rows, x.Cols, dz.Cols}); {
	case out.Len() == 0 || x.Rows == 0 || dz.Members > out.Members: // the last is of several uses: see Merge
		return nil
	case dz.Cols == 1:
		if t.Has("sums") && in.Code == device.LinearDW && x.Rows <= rowsOfPart {
			return summed{}
		}
		return nil
	case !w.large(t):
		if t.Has("several") && x.Rows <= rowsOfPart && out.Len() <= severalElements {
			return several{}
		}
		return nil
	case t.Has("stacks") && in.Code == device.LinearDW && out.Members == 1 && x.Members == 1 && u.stackable(in.Out, in.In[0], in.In[1]):
		return k
	}
	return nil
}

// apartElements divides the sizes of operands that can stand at equal distances with nothing between them: buffers begin at multiples
// of 256 bytes.
const apartElements = Align / 4

// stackable reports whether buffers are the program's own, and full up to the beginning of the next one.
func (u *users) stackable(refs ...device.Ref) bool {
	for _, r := range refs {
		b := u.program.Buffers[r]
		if n := b.Len(); b.Host != nil || b.Part != nil || n == 0 || n%apartElements != 0 || slices.Contains(u.program.Keep, r) {
			return false
		}
	}
	return true
}

// apart leaves out gradients of weights one of whose operands another one has, too, here or among those that are standing: it cannot
// stand in two places. Sums over rows
// may share theirs.
func (u *users) apart(all []int, t Target, standing map[device.Ref]bool) (rest []int) {
	seen := map[device.Ref]bool{}
	for _, i := range all {
		in := u.program.Instrs[i]
		if _, stack := u.atEnd(in, t).(stacked); stack {
			if seen[in.In[0]] || seen[in.In[1]] || in.In[0] == in.In[1] || standing[in.In[0]] || standing[in.In[1]] {
				continue
			}
			seen[in.In[0]], seen[in.In[1]] = true, true
		}
		rest = append(rest, i)
	}
	if len(rest) > 1 {
		maps.Copy(standing, seen)
	}
	return rest
}

// together returns the segment of the gradients of one kind from instruction i on, with those after it; false if there is only one.
func (u *users) together(i int, t Target) (s Segment, ok bool, err error) {
	p := u.program
	kind := u.atEnd(p.Instrs[i], t)
	if kind == nil || t.Chain > len(p.Instrs) { // a check needs each instruction's own kernel
		return s, false, nil
	}
	all := []int{i}
	for j := i + 1; j < len(p.Instrs) && u.atEnd(p.Instrs[j], t) == kind; j++ {
		all = append(all, j)
	}
	if len(all) < 2 || len(u.apart(all, t, map[device.Ref]bool{})) < len(all) {
		return s, false, nil
	}
	b := &builder{program: p, in: p.Instrs[i], target: t}
	s = Segment{First: i, Last: i + len(all) - 1}
	switch kind.(type) {
	case summed:
		b.sums(all)
		s.Recipe = b.recipe
		return s, true, nil
	case several:
		b.smallProducts(all)
		s.Recipe = b.recipe
		return s, true, nil
	}
	s.Stacks = make([][]device.Ref, 3)
	for _, j := range all {
		in := p.Instrs[j]
		for k, r := range []device.Ref{in.Out, in.In[0], in.In[1]} {
			if u.standing[r] {
				return Segment{}, false, nil
			}
			s.Stacks[k] = append(s.Stacks[k], r)
		}
	}
	for _, r := range slices.Concat(s.Stacks...) {
		u.standing[r] = true
	}
	w := kind.(stacked).product(len(all))
	w.c, w.a, w.b = at(s.Stacks[0][0], 0), at(s.Stacks[1][0], 0), at(s.Stacks[2][0], 0)
	if next := s.Last + 1; next < len(p.Instrs) && p.Instrs[next].Code == Squares {
		w.squares, s.Last = at(p.Instrs[next].Out, 0), next
	}
	err = b.multiply(w)
	s.Recipe = b.recipe
	return s, true, err
}

// smallProducts is one launch of the gradients of several layers' weights, in the largest tiles of which there are enough for all
// multiprocessors.
func (b *builder) smallProducts(all []int) {
	var products []product
	for _, i := range all {
		b.in = b.program.Instrs[i]
		products = append(products, b.gradientOfWeights())
	}
	blocks := func(t tile) (n int) {
		for _, p := range products {
			n += p.blocks(t)
		}
		return n
	}
	chosen := simtTiles[len(simtTiles)-1]
	for _, t := range simtTiles {
		if blocks(t) >= class(b.target.Processors) {
			chosen = t
			break
		}
	}
	var table Table
	before := 0
	for _, p := range products {
		a2 := p.a2
		if a2 == absent {
			a2 = p.a
		}
		table = append(table, uint64(before), p.c, p.a, a2, p.b, uint64(p.m), uint64(p.n), uint64(p.k), uint64(p.first),
			uint64(p.strideA), uint64(p.strideA2), uint64(p.strideB), uint64(p.m*p.n), uint64(p.flags()))
		before += p.blocks(chosen)
	}
	b.launch("productsTN_"+chosen.name, [3]uint32{uint32(before), 1, 1}, chosen.threads, chosen.shared, table, uint32(len(products)))
}

// The kinds of sums.cu.
const (
	sumsColumns uint64 = iota
	sumsSquaredError
	sumsEntropyLoss
)

// sumsWords is the width of a table of sums.
const sumsWords = 11

// sums is one launch of several sums.
func (b *builder) sums(all []int) {
	var t Table
	blocks := 0
	for _, i := range all {
		b.in = b.program.Instrs[i]
		row := Table{uint64(blocks)}
		members, rows, cols := b.shape(b.in.In[0])
		own := 1
		switch b.in.Code {
		case device.ColSum:
			members, rows, cols, _ = columnsOf(b.program, b.in)
			row = append(row, sumsColumns, at(b.in.Out, 0), at(b.in.In[0], 0), absent, uint64(rows), uint64(cols), uint64(rows*cols))
			own = members * ceil(cols, 32)
		case device.LinearDW:
			results, _, _ := b.shape(b.in.Out)
			row = append(row, sumsColumns, at(b.in.Out, 0), at(b.in.In[0], 0), at(b.in.In[1], 0), uint64(rows), uint64(cols), uint64(stride(members, rows*cols)))
			own = results * ceil(cols, 32)
		case device.EntropyLoss:
			row = append(row, sumsEntropyLoss, at(b.in.Out, 0), at(b.in.In[0], 0), at(b.in.In[1], 0), at(b.in.In[2], 0), math.Float64bits(float64(rows)), uint64(b.size(b.in.In[0])))
		default:
			row = append(row, sumsSquaredError, at(b.in.Out, 0))
			for _, a := range b.against(b.in.In) {
				if n, is := a.(uint32); is {
					a = uint64(n)
				}
				row = append(row, a)
			}
			row = append(row, math.Float64bits(b.in.F[0]), uint64(b.size(b.in.In[0])))
		}
		t = append(t, append(row, slices.Repeat(Table{uint64(0)}, sumsWords-len(row))...)...)
		blocks += own
	}
	b.launch("sums", [3]uint32{uint32(blocks), 1, 1}, sumThreads, 0, t, uint32(len(all)))
}
