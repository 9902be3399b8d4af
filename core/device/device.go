// Package device says what a machine must do to run plans: take a Program of
// instructions over named buffers, and make something of it that runs again and
// again on the same memory.
//
// The instruction set is small and typed by its documentation: shapes are
// members × rows × columns, and every instruction is a function of its operands
// alone. How a device spreads work over cores or threads does not change the numbers.
package device

import (
	"fmt"
	"time"

	"pgrlab/core/rng"
	"pgrlab/core/window"
)

// Lanes is the fixed number of parts that reductions over rows are split into.
// It belongs to the numbers: another value gives other last bits, so that a run
// keeps it in its configuration.
const Lanes = 2

// Device turns programs into something that runs.
type Device interface {
	// Name says what it is, for people: "cpu avx2, 2 threads".
	Name() string
	// Compile checks a program and prepares its run. Programs of one device may
	// be compiled at any time, but run one at a time.
	Compile(p *Program) (Executable, error)
}

// Executable is a compiled program. It belongs to one goroutine.
type Executable interface {
	// Run executes the program once; occasion indexes its random fills. Where the
	// program finds a number that is not finite before it changes any state, it
	// returns a *NotFinite and has changed nothing.
	Run(occasion uint64) error
	// GradientNorm is the global norm of the last run's gradients; 0 without an
	// optimiser.
	GradientNorm() float64
	// Data is the host's view of a buffer, valid between runs.
	Data(r Ref) []float32
	// Close frees what the program holds.
	Close() error
}

// Sharer is a Device whose workers do something of the host's between two programs.
type Sharer interface {
	// Share makes a function that has all parts of some work done, on the workers that
	// are free, and waits for them. It runs as programs do, one at a time, and does not
	// allocate.
	Share(work func(part, parts int)) func()
}

// Divider is a Device whose workers can be divided among programs that run at the same time.
type Divider interface {
	// Divide makes n devices that have a share of the workers each, and give the same
	// numbers; nil: there are fewer than n workers. They are closed with it.
	Divide(n int) []Device
	// Lend says whether programs of the parts have all workers from now on, as long as one
	// of them runs at a time, or those of their part. It is called while none runs.
	Lend(all bool)
	// Workers is how many there are.
	Workers() int
}

// Profiler is an Executable that can say where its time goes.
type Profiler interface {
	// Profile runs the program a number of times, at occasions from occasion on,
	// and returns the shortest time of each of its parts.
	Profile(occasion uint64, runs int) ([]Timing, error)
}

// Outliner is an Executable that can say how it was laid out.
type Outliner interface {
	Outline() Outline
}

// Outline is what a device made of a program.
type Outline struct {
	// Segments is how many parts barriers cut the program into, the optimiser and
	// the averages included.
	Segments int
	// Segment and Lanes say of each instruction which part it is in, and by what
	// its lanes divide the result ("rows", "members", …).
	Segment []int
	Lanes   []string
	// Into is the instruction that does the work of each: itself, or another that
	// was made to do both. nil: each does its own.
	Into []int
	// Owner is, of each buffer, the one whose memory it has: itself, or one that
	// is no longer needed.
	Owner []Ref
	// Own is how many bytes the program has made for itself.
	Own int
}

// Timing is what one part of a run took: an instruction, or what a device adds.
type Timing struct {
	Instr int // −1: it belongs to no instruction
	Name  string
	Took  time.Duration
}

// Ref is the index of a buffer in its program.
type Ref int

// None is the absent operand.
const None Ref = -1

// Buffer is one array of float32 numbers.
type Buffer struct {
	Name string
	// Members, Rows and Cols give the shape [N,B,C]; a vector is 1×1×C.
	Members, Rows, Cols int
	// Host is memory that outlives the program (inputs, parameters); nil for
	// what the program makes and uses itself.
	Host []float32
}

// Len is the number of elements.
func (b Buffer) Len() int { return b.Members * b.Rows * b.Cols }

// Instr is one instruction. F and I are constants; its Code says which of the
// fields it reads.
type Instr struct {
	Code Code
	Out  Ref
	In   []Ref
	F    [3]float64
	I    [2]int
	ReLU bool       // Linear, LinearAt, LinearJoined, Conv: max(0,·) on the result
	Mask Ref        // LinearDX, ConvDX: zero where the mask is not positive
	Fill rng.Stream // FillNormal, FillUniform
	// Window is how windows move over the images that rows are: Conv and MaxPool.
	Window window.Geometry
	// Items says which numbers of the occasion a fill takes; nil: from 0 on.
	Items *Items
}

// Items are those of an occasion that a fill takes. Both fields may change between
// runs.
type Items struct {
	First uint64 // the item that element 0 is
	Idle  bool   // the fill takes nothing and leaves what it took last
}

// Program is a straight line of instructions, then an optimiser step, then the
// moves of averages. Only these two change what outlives a run, and they come to
// pass only if all of Finite and, with an optimiser, the norm of all gradients
// are finite.
type Program struct {
	Name    string
	Buffers []Buffer
	Instrs  []Instr
	Adam    *Adam
	Lerps   []Lerp
	// Keep are the buffers that must be readable after a run.
	Keep []Ref
	// Finite are the buffers that are checked before state changes.
	Finite []Ref
	// Routine is what a program without instructions, optimiser and averages does; nil
	// where it has them.
	Routine Routine
}

// MaxGradientNorm is the largest norm that an optimiser takes for finite: beyond
// it the second moments, which hold squares, would overflow float32.
const MaxGradientNorm = 1.8e19

// NotFinite says where a run met the first number that is not finite.
type NotFinite struct {
	// Instr is the instruction that made it; −1: it was there before the run;
	// Nowhere: every element is finite, but the norm of the gradients too large.
	Instr  int
	Buffer Ref
	Index  int // of the element in the buffer
	Value  float32
	Norm   float64 // of the gradients, NaN if it is not known
}

// Nowhere is NotFinite.Instr where no single instruction is to blame.
const Nowhere = -2

func (e *NotFinite) Error() string {
	if e.Instr == Nowhere {
		return fmt.Sprintf("the norm of the gradients is %g", e.Norm)
	}
	return fmt.Sprintf("instruction %d: element %d of buffer %d is %g", e.Instr, e.Index, e.Buffer, e.Value)
}

// Adam is one step of Adam or AdamW (Kingma and Ba 2015; Loshchilov and Hutter
// 2019) over all parameters, in PyTorch's order of operations, after the clip of
// the gradient's global norm to ClipNorm (0: no clip).
type Adam struct {
	Params, Grads, M, V                      []Ref
	Rate                                     Ref // [1]
	Beta1, Beta2, Eps, WeightDecay, ClipNorm float64
	T                                        *uint64 // steps taken; each run adds one
}

// Lerp moves Dst by Rate·(Src−Dst): Polyak's average, an exponential moving
// average, a running statistic. Without a Rate (None) Dst becomes Src, bit for bit.
type Lerp struct{ Dst, Src, Rate Ref }

// Code names an instruction. Shapes are [members,rows,columns]; an operand that
// has one member where the result has several serves all of them.
type Code int

const (
	Nop                      Code = iota
	FillNormal                    // Out ← N(0,1)
	FillUniform                   // Out ← U[0,1)
	Linear                        // In x w b: x·w+b for each member
	LinearAt                      // In x w b members: by the members that the indices name
	LinearDX                      // In dz w: dz·wᵀ; where Out has one member, summed over members
	LinearDXPart                  // In dz w: columns I[0] to I[1] of that
	LinearJoined                  // In x1 x2 w b: Linear of x1 and x2 side by side
	LinearJoinedDW                // In x1 x2 dz: LinearDW of x1 and x2 side by side
	LinearDW                      // In x dz: xᵀ·dz for each member
	ColSum                        // In dz: sum over rows for each member, as [1,N,C]
	ReLU                          // In z
	Tanh                          // In z
	SiLU                          // In z
	Mish                          // In z
	ELU                           // In z
	ReLUGrad                      // In dy y
	TanhGrad                      // In dy y
	SiLUGrad                      // In dy z
	MishGrad                      // In dy z
	ELUGrad                       // In dy z
	Add                           // In a b
	Sub                           // In a b
	Mul                           // In a b
	Scale                         // In x; F[0]
	RowScale                      // In x s
	Concat                        // In a b …: columns side by side
	Slice                         // In x: columns I[0] to I[1]
	Pad                           // In x: to I[1] columns, x from column I[0] on, zero elsewhere
	TanhGaussian                  // In h eps: [a | log π]
	TanhGaussianGrad              // In h eps out dout
	MinMembers                    // In q
	MeanMembers                   // In q
	BroadcastMembers              // In dy: dy/N for each of N = I[0] members
	TDTarget                      // In r d q logp gamma alpha
	SquaredError                  // In p t; F[0] norm: Σ(p−t)²/norm
	SquaredErrorGrad              // In p t dloss; F[0]
	WeightedSquaredError          // In p t w; F[0]
	WeightedSquaredErrorGrad      // In p t w dloss; F[0]
	EntropyLoss                   // In logp q alpha
	EntropyGradLogp               // In logp alpha dloss
	EntropyGradQ                  // In q dloss
	AddScalars                    // In a b
	BatchStats                    // In x: rows mean, biased variance, unbiased variance; I channels of images, whose places are rows then, or 0: so all of batch norm
	BatchNorm                     // In x gamma beta stats
	BatchNormDX                   // In x gamma stats dy
	BatchNormDGamma               // In x stats dy
	BatchNormEval                 // In x gamma beta running
	Fourier                       // In t w
	EDMNoised                     // In x n z spread; F pMean pStd
	RowMeanSquare                 // In a b
	Exp                           // In x
	Log                           // In x
	Square                        // In x
	Sqrt                          // In x
	Softplus                      // In x
	SoftplusGrad                  // In dy x
	Sigmoid                       // In x
	SigmoidGrad                   // In dy y
	Symlog                        // In x
	SymlogGrad                    // In dy x
	Symexp                        // In x
	SymexpGrad                    // In dy x
	SignedSqrt                    // In x
	Clamp                         // In x; within F[0] to F[1]
	ClampGrad                     // In dy x; F
	Minimum                       // In a b
	Maximum                       // In a b
	Div                           // In a b
	Keep                          // In dy a b: dy where a ≤ b, with I[0] = 1 where a < b, else 0
	ColScale                      // In x s: s holds [1,N,C]
	ColAdd                        // In x b: likewise
	Members                       // In x: repeated for I[0] members
	SumMembers                    // In x
	SumColumns                    // In x; F[0] factor
	SpreadColumns                 // In x: its column I[0] times; F[0] factor
	Sum                           // In x; F[0] norm
	SumGrad                       // In x dsum; F[0]
	BCE                           // In z t [w]; F[0] norm
	BCEGrad                       // In z t [w] dloss; F[0]
	GaussianKL                    // In h; F[0] norm
	GaussianKLGrad                // In h dloss; F[0]
	Gather                        // In x index
	GatherGrad                    // In x index dout
	LayerNorm                     // In x gamma beta; F[0] ε
	LayerNormDX                   // In x gamma dy; F[0]
	LayerNormDGamma               // In x dy; F[0]
	MinMembersGrad                // In q out dout
	LogSumExp                     // In x
	LogSumExpGrad                 // In x out dout
	Softmax                       // In x
	SoftmaxGrad                   // In y dy
	CrossEntropy                  // In z t [w]; F[0] norm
	CrossEntropyGrad              // In z t [w] dloss; F[0]
	TwoHot                        // In x; F lo hi, I[0] bins
	MergeStats                    // In running x: mean, variance and count with the rows of x
	Conv                          // In x w b; Window
	ConvDX                        // In dz w; Window, of the result
	ConvDW                        // In x dz; Window
	ConvDB                        // In dz; Window: sum over rows and places
	MaxPool                       // In x; Window
	MaxPoolGrad                   // In x dy; Window
	Codes                         // how many there are
)

var codeNames = [Codes]string{
	"nop", "normal", "uniform", "linear", "linear at", "linear dx", "linear dx part", "joined linear", "joined linear dw", "linear dw", "column sum",
	"relu", "tanh", "silu", "mish", "elu", "relu grad", "tanh grad", "silu grad", "mish grad", "elu grad",
	"add", "sub", "mul", "scale", "row scale", "concat", "slice", "pad",
	"tanh-gaussian", "tanh-gaussian grad", "min members", "mean members", "broadcast members",
	"td target", "squared error", "squared error grad", "weighted squared error", "weighted squared error grad",
	"entropy loss", "entropy grad log π", "entropy grad q", "add scalars",
	"batch stats", "batch norm", "batch norm dx", "batch norm dγ", "batch norm eval",
	"fourier", "edm noised", "row mean square",
	"exp", "log", "square", "sqrt", "softplus", "softplus grad", "sigmoid", "sigmoid grad",
	"symlog", "symlog grad", "symexp", "symexp grad", "signed sqrt", "clamp", "clamp grad",
	"minimum", "maximum", "div", "keep",
	"column scale", "column add", "members", "sum members", "sum columns", "spread columns", "sum", "sum grad",
	"bce", "bce grad", "gaussian kl", "gaussian kl grad", "gather", "gather grad",
	"layer norm", "layer norm dx", "layer norm dγ", "min members grad", "log-sum-exp", "log-sum-exp grad",
	"softmax", "softmax grad", "cross-entropy", "cross-entropy grad", "two-hot", "merge stats",
	"conv", "conv dx", "conv dw", "conv db", "max-pool", "max-pool grad",
}

func (c Code) String() string {
	if c < 0 || c >= Codes {
		return fmt.Sprintf("code %d", int(c))
	}
	return codeNames[c]
}

// FLOPs is the number of floating-point operations of an instruction, a
// multiplication and an addition counted as two; elementwise work counts one an
// element.
func (p *Program) FLOPs(in Instr) int {
	out := p.Buffers[in.Out]
	switch in.Code {
	case Linear, LinearAt:
		return 2 * out.Len() * p.Buffers[in.In[0]].Cols
	case LinearJoined:
		return 2 * out.Len() * p.Buffers[in.In[2]].Rows
	case LinearJoinedDW:
		return 2 * out.Len() * p.Buffers[in.In[0]].Rows
	case LinearDX, LinearDXPart:
		dz := p.Buffers[in.In[0]]
		return 2 * dz.Len() * out.Cols
	case LinearDW:
		return 2 * out.Len() * p.Buffers[in.In[0]].Rows
	case Conv:
		return 2 * out.Len() * in.Window.Patch()
	case ConvDX:
		return 2 * p.Buffers[in.In[0]].Len() * in.Window.Patch()
	case ConvDW:
		return 2 * p.Buffers[in.In[1]].Len() * in.Window.Patch()
	case ColSum, ConvDB, MaxPoolGrad:
		return p.Buffers[in.In[0]].Len()
	case MaxPool:
		return out.Len() * in.Window.Kernel * in.Window.Kernel
	}
	return out.Len()
}
