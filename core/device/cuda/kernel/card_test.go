package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/testing/ptx"
)

// card is a device that runs recipes by the PTX interpreter, in the plainest way: every buffer and
// every scratch has an allocation of its own, and all host memory is uploaded before a run and
// downloaded after it. Races, reads of memory that was not written and accesses beyond an
// allocation are errors.
type card struct {
	t       testing.TB
	target  Target
	modules []Module
	chains  bool // instructions are steps of chains where they can be, even alone
	chained map[device.Code]bool
}

// cardTurn is the turn of all runs.
const cardTurn = 7

// parsed holds the modules that some test has used, by name.
var parsed struct {
	sync.Mutex
	modules map[string]*ptx.Module
}

// newCard returns a card that recipes are made for.
func newCard(t testing.TB, target Target) *card {
	t.Helper()
	modules, err := Modules(target.SM)
	if err != nil {
		t.Fatal(err)
	}
	return &card{t: t, target: target, modules: modules}
}

// kernel finds a kernel, and parses its module at the first kernel that is used from it.
func (c *card) kernel(name string) (*ptx.Kernel, error) {
	parsed.Lock()
	defer parsed.Unlock()
	for _, m := range c.modules {
		if !slices.Contains(m.Kernels, name) {
			continue
		}
		if parsed.modules == nil {
			parsed.modules = map[string]*ptx.Module{}
		}
		if parsed.modules[m.Name] == nil {
			module, err := ptx.Parse(m.Text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			parsed.modules[m.Name] = module
		}
		return parsed.modules[m.Name].Kernel(name)
	}
	return nil, fmt.Errorf("there is no kernel %s", name)
}

func (c *card) Name() string { return fmt.Sprintf("ptx sm_%d", c.target.SM) }

func (c *card) JoinFrom() int { return 1 }

// Compile makes the recipes of a program and its memory.
func (c *card) Compile(p *device.Program) (device.Executable, error) {
	x := &run{card: c, p: p, memory: ptx.NewMemory(), hosts: map[*float32]uint64{}, lives: map[any]uint64{}}
	x.memory.Check = ptx.Check{Races: true, Unwritten: true, Blocks: true}
	for _, b := range p.Buffers {
		data := b.Host
		if data == nil {
			data = make([]float32, b.Len())
		}
		if len(data) != b.Len() {
			return nil, fmt.Errorf("buffer %s holds %d numbers, its shape has %d", b.Name, len(data), b.Len())
		}
		x.data = append(x.data, data)
		x.addresses = append(x.addresses, x.place(b))
	}
	x.state, x.gate, x.occasion, x.words = x.alloc(StateBytes), x.alloc(GateBytes), x.alloc(8), x.alloc(64)
	segments, err := c.segments(p)
	if err != nil {
		return nil, err
	}
	for _, s := range segments {
		x.recipes = append(x.recipes, s.Recipe)
	}
	end, err := Finish(p, c.target)
	if err != nil {
		return nil, err
	}
	x.recipes = append(x.recipes, end)
	for _, r := range x.recipes {
		x.launches += len(r.Launches)
	}
	return x, nil
}

// segments returns a program's instructions one by one, or in chains.
func (c *card) segments(p *device.Program) (segments []Segment, err error) {
	if c.chains {
		segments, err = segmentsOf(p, c.target, 1)
		for _, s := range segments {
			for i := s.First; i <= s.Last && c.chained != nil && s.Recipe.Launches != nil && s.Recipe.Launches[0].Kernel == "chain"; i++ {
				c.chained[p.Instrs[i].Code] = true
			}
		}
		return segments, err
	}
	for i := range p.Instrs {
		r, err := Lower(p, i, c.target)
		if err != nil {
			return nil, err
		}
		segments = append(segments, Segment{First: i, Last: i, Recipe: r})
	}
	return segments, nil
}

// run is a program on a card.
type run struct {
	*card
	p               *device.Program
	memory          *ptx.Memory
	hosts           map[*float32]uint64
	data            [][]float32
	addresses       []uint64
	state, gate     uint64
	occasion, words uint64
	lives           map[any]uint64
	recipes         []Recipe
	keeps           []uint64 // of the recipe
	norm            float64
	launches        int
}

func (x *run) alloc(bytes int) uint64 {
	p, err := x.memory.Alloc(bytes)
	if err != nil {
		x.t.Fatal(err)
	}
	return p
}

// place returns the address of a buffer; buffers in one memory of the host stay together.
func (x *run) place(b device.Buffer) uint64 {
	if len(b.Host) == 0 {
		p, err := x.memory.Reserve(4 * b.Len())
		if err != nil {
			x.t.Fatal(err)
		}
		return p
	}
	if p, ok := x.hosts[&b.Host[0]]; ok {
		return p
	}
	p := x.alloc(4 * b.Len())
	x.hosts[&b.Host[0]] = p
	return p
}

func (x *run) Run(occasion uint64) error {
	for r, b := range x.p.Buffers {
		if len(b.Host) > 0 {
			x.write(x.addresses[r], b.Host)
		}
	}
	words := make([]byte, StateBytes)
	if x.p.Adam != nil {
		binary.LittleEndian.PutUint64(words[StateT:], *x.p.Adam.T)
	}
	x.bytes(x.state, words)
	x.bytes(x.gate, make([]byte, GateBytes))
	if x.p.Routine != nil {
		var act []byte
		for _, w := range x.p.Routine.Words(nil) {
			act = binary.LittleEndian.AppendUint64(act, w)
		}
		x.bytes(x.words, act)
	}
	x.bytes(x.occasion, binary.LittleEndian.AppendUint64(nil, occasion))
	for i, r := range x.recipes {
		if err := x.follow(r); err != nil {
			return fmt.Errorf("recipe %d: %w", i, err)
		}
	}
	for r := range x.data {
		x.read(x.data[r], x.addresses[r])
	}
	return x.finish()
}

// finish reads the state that the end of the program has left.
func (x *run) finish() error {
	words := make([]byte, StateBytes)
	if err := x.memory.Read(words, x.state); err != nil {
		return err
	}
	x.norm = math.Float64frombits(binary.LittleEndian.Uint64(words[StateNorm:]))
	gate := make([]byte, GateBytes)
	if err := x.memory.Read(gate, x.gate); err != nil {
		return err
	}
	if turn := binary.LittleEndian.Uint32(gate); turn != 0 && turn != cardTurn {
		return fmt.Errorf("the gate was closed by %d", turn)
	} else if turn != 0 {
		return &device.NotFinite{Instr: device.Nowhere, Buffer: device.None, Norm: x.norm}
	}
	if x.p.Adam != nil {
		*x.p.Adam.T++
		if t := binary.LittleEndian.Uint64(words[StateT:]); t != *x.p.Adam.T {
			return fmt.Errorf("the card counts %d steps, want %d", t, *x.p.Adam.T)
		}
	}
	return nil
}

// follow runs a recipe.
func (x *run) follow(r Recipe) error {
	var scratch []uint64
	for _, n := range r.Scratch {
		p, err := x.memory.Reserve(4 * n)
		if err != nil {
			return err
		}
		scratch = append(scratch, p)
	}
	var tables []uint64
	var launches []Launch
	for _, k := range r.Kept {
		p, err := x.memory.Reserve(4 * k.Elements)
		if err != nil {
			return err
		}
		x.keeps, launches = append(x.keeps, p), append(launches, k.Launches...)
	}
	for _, l := range append(launches, r.Launches...) {
		k, err := x.kernel(l.Kernel)
		if err != nil {
			return err
		}
		if l.Block[0] > 256 && k.MaxThreads < int(l.Block[0]) {
			x.t.Errorf("%s is launched with blocks of %d threads, and its bound is %d (0: none): it could get 255 registers, of which a block of 256 threads has enough", l.Kernel, l.Block[0], k.MaxThreads)
		}
		var params ptx.Pack
		for _, a := range l.Args {
			bits, size := x.argument(a, scratch, &tables)
			params = params.Add(bits, size)
		}
		if err := k.Run(x.memory, l.Grid, l.Block, l.Shared, params); err != nil {
			return fmt.Errorf("%s over %v of %v: %w", l.Kernel, l.Grid, l.Block, err)
		}
	}
	for _, p := range slices.Concat(scratch, tables, x.keeps) {
		if err := x.memory.Free(p); err != nil {
			return err
		}
	}
	x.keeps = nil
	return nil
}

func (x *run) argument(a any, scratch []uint64, tables *[]uint64) (bits uint64, size int) {
	switch v := a.(type) {
	case Operand:
		if v.Scratch {
			return scratch[v.Ref] + 4*uint64(v.Offset), 8
		}
		return x.addresses[v.Ref] + 4*uint64(v.Offset), 8
	case Keep:
		return x.keeps[v], 8
	case uint32:
		return uint64(v), 4
	case int32:
		return uint64(uint32(v)), 4
	case float32:
		return uint64(math.Float32bits(v)), 4
	case float64:
		return math.Float64bits(v), 8
	case uint64:
		return v, 8
	case int64:
		return uint64(v), 8
	case Occasion:
		return x.occasion, 8
	case State:
		return x.state, 8
	case Gate:
		return x.gate, 8
	case Turn:
		return cardTurn, 4
	case Words:
		return x.words, 8
	case Live:
		return x.live(v), 8
	case Table:
		var words []byte
		for _, w := range v {
			bits, size := x.argument(w, scratch, tables)
			if size != 8 {
				x.t.Fatalf("a table holds a %T", w)
			}
			words = binary.LittleEndian.AppendUint64(words, bits)
		}
		p := x.alloc(len(words))
		x.bytes(p, words)
		*tables = append(*tables, p)
		return p, 8
	}
	x.t.Fatalf("%T is no argument", a)
	return 0, 0
}

func (x *run) live(l Live) uint64 {
	var key any = l.T
	var words [2]uint64
	if l.Items != nil {
		key, words[0] = l.Items, l.Items.First
		if l.Items.Idle {
			words[1] = 1
		}
	} else {
		words[0] = *l.T
	}
	if x.lives[key] == 0 {
		x.lives[key] = x.alloc(16)
	}
	x.bytes(x.lives[key], binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, words[0]), words[1]))
	return x.lives[key]
}

func (x *run) bytes(p uint64, b []byte) {
	if err := x.memory.Write(p, b); err != nil {
		x.t.Fatal(err)
	}
}

func (x *run) write(p uint64, data []float32) {
	b := make([]byte, 0, 4*len(data))
	for _, v := range data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	x.bytes(p, b)
}

func (x *run) read(data []float32, p uint64) {
	b := make([]byte, 4*len(data))
	if err := x.memory.Read(b, p); err != nil {
		x.t.Fatal(err)
	}
	for i := range data {
		data[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

func (x *run) GradientNorm() float64 { return x.norm }

func (x *run) Data(r device.Ref) []float32 { return x.data[r] }

func (x *run) Close() error { return nil }
