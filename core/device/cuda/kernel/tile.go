package kernel

// tile is a shape of a kernel's blocks.
type tile struct {
	name    string // as the kernel's name ends
	m, n    int    // of the result
	k       int    // of a chunk of the sum
	threads uint32
	shared  uint32 // dynamic shared memory, bytes
	// rate is the number of products that a multiprocessor makes in a cycle, with as many blocks as
	// fit on it: of packed and direct tiles measured on an H100, of the others estimated.
	rate int
	// packed tiles work on operands that were rounded and laid out before (packed.go), direct ones
	// round operands as they stand in memory. Both take what follows a product (follow.go).
	packed, direct bool
}

// classes lists the numbers of blocks that a product is divided into if possible, largest first. A
// card belongs to the largest class that its multiprocessors can run at the same time (H100 SXM and
// H200 132, L40S 142: 128; H100 PCIe 114; A100 108; V100 80, A40 84: 80). With more blocks than
// multiprocessors the rest would need a second round. Classes are used instead of the card's own
// number so that sums have the same order on all cards of a class.
var classes = []int{128, 114, 108, 80, 56, 40, 28, 14}

// class returns the class of a card with the given number of multiprocessors; 0: not known.
func class(processors int) int {
	if processors == 0 {
		return classes[0]
	}
	for _, c := range classes {
		if c <= processors {
			return c
		}
	}
	return classes[len(classes)-1]
}

// simtTiles lists the tiles of cu/linear.cu, largest first.
var simtTiles = []tile{
	{name: "128x128", m: 128, n: 128, k: 16, threads: 256},
	{name: "64x64", m: 64, n: 64, k: 32, threads: 256},
	{name: "32x32", m: 32, n: 32, k: 64, threads: 256},
	{name: "16x32", m: 16, n: 32, k: 64, threads: 256},
}

// tensorTiles lists the tiles of cu/tensor.h. Their rates are for TF32, out of the 620 that
// mma.sync reaches on Hopper; the smaller the tile, the larger the share of time that goes to
// loads. BF16 doubles all rates, which hardly changes any choice.
var tensorTiles = []tile{
	{name: "128x256", m: 128, n: 256, k: 32, threads: 256, shared: 3 * (128 + 256) * 32 * 4, rate: 550},
	{name: "128x128", m: 128, n: 128, k: 32, threads: 256, shared: 3 * (128 + 128) * 32 * 4, rate: 480},
	{name: "64x64", m: 64, n: 64, k: 32, threads: 128, shared: 4 * (64 + 64) * 32 * 4, rate: 340},
}

// packedTiles lists the tiles of cu/warpgroup.h, which a precision divides into chunks of 128 bytes.
var packedTiles = map[Precision][]tile{
	TF32: {
		{name: "128x256", m: 128, n: 256, k: 32, threads: 256, shared: 4 * (128 + 256) * 128, rate: 750, packed: true},
		{name: "128x128", m: 128, n: 128, k: 32, threads: 256, shared: 6 * (128 + 128) * 128, rate: 620, packed: true},
	},
	BF16: {
		{name: "128x256", m: 128, n: 256, k: 64, threads: 256, shared: 4 * (128 + 256) * 128, rate: 1300, packed: true},
		{name: "128x128", m: 128, n: 128, k: 64, threads: 256, shared: 6 * (128 + 128) * 128, rate: 1200, packed: true},
	},
}

// directTiles lists the tiles of cu/direct.h, whose shared memory holds two parts of the operands,
// and at the end the sums.
var directTiles = map[Precision][]tile{
	TF32: {{name: "128x128", m: 128, n: 128, k: 64, threads: 256, shared: 2 * 2 * 128 * 64 * 4, rate: 200, direct: true}},
	BF16: {{name: "128x128", m: 128, n: 128, k: 64, threads: 256, shared: 128 * (128 + 8) * 4, rate: 240, direct: true}},
}

// tensorOf returns the tiles from which those of large products are chosen at a target. The
// instructions of packed and direct tiles exist on cards of compute capability 9.0 alone.
func tensorOf(t Target) []family {
	all := everyTensorOf(t)
	if len(all) > 1 {
		return all[:len(all)-1]
	}
	return all
}

// everyTensorOf returns all tiles for the tensor cores that a target has: those of mma.sync last.
func everyTensorOf(t Target) (families []family) {
	if t.Precision == FP32 || t.SM < 80 {
		return nil
	}
	name := tensorNames[t.Precision] + "_"
	if t.SM == 90 {
		families = append(families, family{"packed_" + name, packedTiles[t.Precision]}, family{"direct_" + name, directTiles[t.Precision]})
	}
	return append(families, family{name, tensorTiles})
}

// family is tiles of one source. A tile's name begins with prefix.
type family struct {
	prefix string
	tiles  []tile
}

// kernel returns the name of a tile's kernel for a product of a layout.
func (f family) kernel(l layout, t tile) string {
	if t.packed {
		return f.prefix + t.name
	}
	return "product" + string(l) + "_" + f.prefix + t.name
}

// Tile is a size of the blocks into which a product is divided.
type Tile struct {
	Name    string // for Target.Tile
	M, N, K int    // of the result's rows and columns, and of a chunk of the sum
}

// Tiles lists the tiles into which products may be divided at a Target, largest first.
func Tiles(t Target) []Tile {
	var all []Tile
	for _, f := range append(everyTensorOf(t), family{"", simtTiles}) {
		for _, of := range f.tiles {
			if of.shared <= sharedOf(t.SM) {
				all = append(all, Tile{f.prefix + of.name, of.m, of.n, of.k})
			}
		}
	}
	return all
}

// forced returns the division by Target.Tile, with the sum in two parts if it is long enough; false
// if there is no such tile for the product.
func (p product) forced(target Target) (d division, ok bool) {
	for _, f := range append(everyTensorOf(target), family{"", simtTiles}) {
		for _, t := range f.tiles {
			if f.prefix+t.name == target.Tile && t.does(p) {
				return division{f.kernel(p.layout, t), t, max(1, min(2, p.chunks(t)/4)), p.m}, true
			}
		}
	}
	return division{}, false
}

// does reports whether there is a kernel of the tile for the product's layout.
func (t tile) does(p product) bool {
	return t.packed || t.direct || t.shared == 0 || t.n < 256 || p.layout != nt
}

func ceil(a, b int) int { return (a + b - 1) / b }

// blocks returns the number of tiles of the result, over all members.
func (p product) blocks(t tile) int { return ceil(p.m, t.m) * ceil(p.n, t.n) * p.members }

// chunks returns the number of steps of the sum.
func (p product) chunks(t tile) int { return p.inner * ceil(p.k, t.k) }

// simt chooses the largest tile of which there are enough for all multiprocessors. If even the
// smallest tile leaves more than half of them idle over a long sum, simt divides the sum. A further
// launch must pay off: each part keeps at least 8 chunks.
func (p product) simt(target Target) (t tile, splits int) {
	processors := class(target.Processors)
	for _, t = range simtTiles {
		if p.blocks(t) >= processors {
			return t, 1
		}
	}
	return t, max(1, min(processors/p.blocks(t), p.chunks(t)/8))
}

const (
	// tensorLeast is the number of multiplications per member from which tensor cores are used:
	// 256×512×512. Layers of width 256 at batch 256 are bound by latency, and stay exact.
	tensorLeast = 1 << 26
	// tensorThin is the smallest number of rows, columns and summands; below it, most of a tile
	// would be zeros.
	tensorThin = 32
)

// tensor reports whether a product goes to the tensor cores. This depends only on shapes and
// target.
func (p product) tensor(t Target) bool {
	return t.Precision != FP32 && t.SM >= 80 && min(p.m, p.n, p.k) >= tensorThin && p.m*p.n*p.k >= tensorLeast
}

// large reports whether a product goes to the tensor cores, by Target.Tile or else by its size.
func (p product) large(t Target) bool {
	if d, ok := p.forced(t); ok {
		return d.tile.shared > 0 // as only tiles of tensor cores have it
	}
	return p.tensor(t)
}

// sharedOf returns the shared memory that a block may have, in bytes: 163 KiB at 8.0, 227 KiB on
// the big cards since, 99 KiB on consumer cards.
func sharedOf(sm int) uint32 {
	switch sm {
	case 80, 87:
		return 163 << 10
	case 90, 100, 103:
		return 227 << 10
	}
	return 99 << 10
}

// division says how a product becomes launches.
type division struct {
	kernel string
	tile
	splits int // of the sum
	rows   int // rows of the result that one launch makes, if the sum is not split
}

// divide chooses the kernel of a product by its shapes and the target. A sum that is divided has all
// rows in one launch, and scratch memory for all of them.
func divide(p product, t Target) division {
	if t.Tile != "" {
		if d, ok := p.forced(t); ok {
			return d
		}
	}
	if p.tensor(t) {
		f, tile, splits := p.choose(tensorOf(t), t)
		return division{f.kernel(p.layout, tile), tile, splits, p.bounded(tile, splits, maxTensor)}
	}
	tile, splits := p.simt(t)
	return division{"product" + string(p.layout) + "_" + tile.name, tile, splits, p.bounded(tile, splits, maxProduct)}
}

// These constants bound the products of one launch, so that none takes 50 ms: 2³⁶ take 28 ms at 5
// TFLOP/s, which the slowest card of compute capability 7.0 exceeds, and 2³⁷ on tensor cores take
// 21 ms at 13 TFLOP/s, the rate of the slowest cards of 8.6.
const (
	maxProduct = 1 << 36
	maxTensor  = 1 << 37
)

// bounded returns the number of rows of the result that a launch makes: equal parts, in whole
// tiles. They can be divided only if A's rows are the result's rows and the sum is in one part.
func (p product) bounded(t tile, splits, limit int) int {
	launches := ceil(p.m*p.n*p.k*p.inner*p.members, limit)
	if p.layout == tn || launches <= 1 || splits > 1 {
		return p.m
	}
	return ceil(ceil(p.m, t.m), launches) * t.m
}

// tensorNames maps precisions to their names in kernels.
var tensorNames = map[Precision]string{TF32: "TF32", BF16: "BF16"}

// Costs that choose counts, in cycles.
const (
	costFill   = 1500 // the first chunks of a block, and writing its result
	costGather = 2500 // one more launch, which adds parts
	costCopied = 512  // elements of parts that all multiprocessors write and read in a cycle
	costPack   = 3000 // one more launch, which packs an operand
	costPacked = 150  // elements of operands that all multiprocessors pack in a cycle
)

// choose returns the tile and the division of the sum with the least estimated time: rounds of
// blocks over the multiprocessors, each at the tile's rate, the packing of operands, and, if the sum
// is divided, a second launch that adds the parts.
func (p product) choose(families []family, target Target) (of family, best tile, splits int) {
	least, processors := 0, class(target.Processors)
	for _, f := range families {
		for _, t := range f.tiles {
			if t.shared > sharedOf(target.SM) || !t.does(p) {
				continue
			}
			chunks := p.chunks(t)
			for s := 1; s <= 16 && s*4 <= max(4, chunks*t.k/32); s++ {
				cost := p.packing(t) + ceil(p.blocks(t)*s, processors)*(t.m*t.n*t.k*ceil(chunks, s)/t.rate+costFill)
				if s > 1 {
					cost += costGather + s*p.members*p.m*p.n/costCopied
				}
				if least == 0 || cost < least {
					of, best, splits, least = f, t, s, cost
				}
			}
		}
	}
	return of, best, splits
}

// packing is the cost of packing a product's operands for a tile.
func (p product) packing(t tile) (cost int) {
	if !t.packed {
		return 0
	}
	each := p.members * p.inner * p.k
	if !p.ready {
		cost = costPack + each*p.m/costPacked
	}
	return cost + costPack + each*p.n/costPacked
}
