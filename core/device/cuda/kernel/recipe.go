package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgrlab/core/device"
)

// Precision is the precision to which the factors of large matrix products are rounded; sums are
// float32 at every precision. Small products are float32 at every precision: there the tensor cores
// save nothing, because only the number of launches counts.
type Precision int

const (
	FP32 Precision = iota // nothing is rounded
	TF32                  // 10 bits of mantissa, float32's exponent
	BF16                  // 7 bits of mantissa, float32's exponent
)

func (p Precision) String() string {
	switch p {
	case FP32:
		return "fp32"
	case TF32:
		return "tf32"
	case BF16:
		return "bf16"
	}
	return fmt.Sprintf("precision %d", int(p))
}

// ParsePrecision is the inverse of String.
func ParsePrecision(text string) (Precision, error) {
	for _, p := range []Precision{FP32, TF32, BF16} {
		if p.String() == text {
			return p, nil
		}
	}
	return FP32, fmt.Errorf("precision %s: want fp32, tf32 or bf16", text)
}

// Round returns a factor as a product of that precision uses it: the nearest number, with ties away
// from zero for TF32 (cvt.rna) and to even for BF16 (cvt.rn).
func (p Precision) Round(x float32) float32 {
	switch b := math.Float32bits(x); {
	case x != x:
		return x
	case p == TF32:
		return math.Float32frombits((b + 1<<12) &^ (1<<13 - 1))
	case p == BF16:
		return math.Float32frombits((b + 0x7fff + b>>16&1) &^ (1<<16 - 1))
	}
	return x
}

// Target is the target for which recipes are made.
type Target struct {
	SM        int // compute capability, 80 = 8.0
	Precision Precision
	// Processors is the number of the card's multiprocessors, of which only the class matters (see
	// tile.go); 0: as many as an H100 has.
	Processors int
	// Tile is one of Tiles, used for all products that it can do, whatever their shapes; "": the
	// best one. It is for checks.
	Tile string
	// Chain is the least number of instructions that go together as one launch; 0: as many as make
	// that quicker. Checks that want each instruction's own kernel to run set it higher than the
	// number of instructions in a program.
	Chain int
	// Without names Switches that are off, separated by commas: programs as they would be without them. It is for checks.
	Without string
}

// Switches lists what Target.Without may name: ways to do with fewer launches, whose gain a check times.
var Switches = []string{
	"uses",    // the uses of one weight as one product
	"stacks",  // large gradients of weights of one shape as one product
	"several", // small gradients of weights as one launch
	"sums",    // sums over rows and losses as one launch
	"made",    // what makes a product's operand as part of packing it
	"places",  // what follows a product in the place of its operand
	"squares", // the squares of gradients summed where these are made
	"rows",    // layers of one column, and what a row makes of its columns, as steps of chains
	"beside",  // programs that are started beside others
}

// Has reports whether a switch is on.
func (t Target) Has(name string) bool {
	return t.Without == "" || !slices.Contains(strings.Split(t.Without, ","), name)
}

// Operand is device memory as an argument: the address of element Offset of a buffer, or of a
// scratch request of the same recipe.
type Operand struct {
	Ref     device.Ref
	Offset  int  // in float32 elements
	Scratch bool // Ref is an index into Recipe.Scratch
}

// Occasion as an argument is the address of the word (8 bytes, unsigned) on the device that holds
// the occasion of the run.
type Occasion struct{}

// Live as an argument is the address of words on the device that follow a value of the host, which
// may change between runs. Exactly one field is set.
type Live struct {
	Items *device.Items // two words of 8 bytes: First, then 1 if Idle, else 0
	T     *uint64       // one word of 8 bytes: the number of steps that an optimiser has taken
}

// Table as an argument is the address of an array of 8-byte words in device memory,
// written once, before the first run: the addresses of Operands and numbers (uint64).
// It carries the pointers of the many small tensors that one launch works on.
type Table []any

// State as an argument is the address of StateBytes bytes, aligned to 64, which the check, the
// optimiser and the host share. It is the state of an optimiser, or of a program without one.
// Before a run the host writes the optimiser's steps so far (uint64 at StateT) and zero everywhere
// else; after the run it reads the steps and the norm of the gradients (float64 at StateNorm).
// Consecutive runs on the device without the host share the State of an optimiser, which counts its
// steps.
type State struct{}

// Offsets in the State.
const (
	StateBytes = 64
	StateT     = 0
	StateNorm  = 8
)

// Gate as an argument is the address of GateBytes bytes, aligned to 8. Zero (uint32) means open. A
// run that meets a number that is not finite writes its Turn there; from then on nothing changes,
// in all runs with this Gate.
type Gate struct{}

// GateBytes is the size of a Gate.
const GateBytes = 8

// Turn as an argument is a nonzero number (uint32) that distinguishes the runs of one Gate.
type Turn struct{}

// Words as an argument is the address of the words of the program's Routine.
type Words struct{}

// Stored as an argument is the address of a store's first row.
type Stored struct{ device.Store }

// Launch is one start of a kernel.
type Launch struct {
	Kernel      string
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory, bytes
	// Args are of the types Operand, Keep, uint32, int32, float32, float64, uint64, int64, Occasion,
	// Live, Table, State, Gate, Turn, Words and Stored, in the order of the kernel's parameters. An
	// absent optional pointer is uint64(0).
	Args []any
}

// Recipe is what an instruction becomes: launches in order, each of which sees what the earlier
// ones wrote, and the memory they need besides the program's.
type Recipe struct {
	Launches []Launch
	// Scratch lists the sizes, in float32 elements, of memory that lives from the first to the last
	// launch. Its initial contents are undefined.
	Scratch []int
	// Kept lists what must be laid out before the first launch.
	Kept []Kept
}

// lowering makes the launches of one instruction.
type lowering func(b *builder) error

// lowerings is the table of recipes; the files of the families fill it.
var lowerings [device.Codes]lowering

// Lower returns the recipe of instruction i. It does not repeat plan's checks. If an instruction
// has no kernel for the target, the error names its code and shapes.
func Lower(p *device.Program, i int, t Target) (Recipe, error) { return lower(p, i, t, nil) }

// lower is Lower in a program where some operands are packed.
func lower(p *device.Program, i int, t Target, packings map[device.Ref]bool) (Recipe, error) {
	in := p.Instrs[i]
	if in.Code < 0 || in.Code >= device.Codes || lowerings[in.Code] == nil {
		return Recipe{}, fmt.Errorf("lower instruction %d: there is no kernel for %v on a GPU; use --device cpu", i, in.Code)
	}
	b := &builder{program: p, in: in, target: t, packings: packings}
	if err := lowerings[in.Code](b); err != nil {
		return Recipe{}, fmt.Errorf("lower instruction %d, %v%s: %w", i, in.Code, b.shapes(), err)
	}
	return b.recipe, nil
}

// builder builds a recipe.
type builder struct {
	program *device.Program
	in      device.Instr
	target  Target
	recipe  Recipe

	before   *preceding          // for a product: what its operand A is made of
	after    *following          // for a product: what else is done with its result
	followed bool                // whether a launch does that
	division division            // of the product
	packings map[device.Ref]bool // operands that are in memory as packed.go lays them out
}

// shape returns a buffer's members, rows and columns.
func (b *builder) shape(r device.Ref) (members, rows, cols int) {
	buffer := b.program.Buffers[r]
	return buffer.Members, buffer.Rows, buffer.Cols
}

// size returns a buffer's number of elements.
func (b *builder) size(r device.Ref) int { return b.program.Buffers[r].Len() }

// shapes lists the operands' shapes, for errors.
func (b *builder) shapes() string {
	var text string
	for _, r := range append([]device.Ref{b.in.Out}, b.in.In...) {
		if r == device.None {
			text += " -"
			continue
		}
		n, rows, cols := b.shape(r)
		text += fmt.Sprintf(" [%d,%d,%d]", n, rows, cols)
	}
	return text
}

// at returns a buffer, from an element on, as an argument.
func at(r device.Ref, offset int) Operand { return Operand{Ref: r, Offset: offset} }

// scratch requests memory for the given number of elements.
func (b *builder) scratch(elements int) Operand {
	b.recipe.Scratch = append(b.recipe.Scratch, elements)
	return Operand{Ref: device.Ref(len(b.recipe.Scratch) - 1), Scratch: true}
}

// launch adds one launch of a kernel, or nothing if the grid has no blocks.
func (b *builder) launch(kernel string, grid [3]uint32, threads, shared uint32, args ...any) {
	if grid[0]*grid[1]*grid[2] == 0 {
		return
	}
	b.recipe.Launches = append(b.recipe.Launches, Launch{
		Kernel: kernel, Grid: grid, Block: [3]uint32{threads, 1, 1}, Shared: shared, Args: args,
	})
}

const (
	// elementThreads is the block size of kernels over elements.
	elementThreads = 256
	// elementBlocks bounds the grid of these kernels; more elements take further iterations of the
	// loop. 1024 blocks of 256 threads fill 128 multiprocessors at full occupancy.
	elementBlocks = 1024
)

// elements launches a kernel with the grid's stride over n elements. The caller passes n as an
// argument itself.
func (b *builder) elements(kernel string, n int, args ...any) {
	blocks := min((n+elementThreads-1)/elementThreads, elementBlocks)
	b.launch(kernel, [3]uint32{uint32(blocks), 1, 1}, elementThreads, 0, args...)
}
