package ptx

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Module is a PTX text, ready to run. As in a loaded module, its variables keep their
// values from one launch to the next.
type Module struct {
	Version string // of the PTX language, "7.0"
	Target  string // "sm_80"

	sm        int // 80; 0: not given
	functions map[string]*function
	globals   []*variable
	memory    []*allocation // allocations of globals, by address
	kernels   map[string]*Kernel
	lines     []string
}

// Stateless says whether the module has no memory of its own, in which case any number of
// devices may run its kernels.
func (m *Module) Stateless() bool { return len(m.memory) == 0 }

// Parameter is one parameter of a kernel.
type Parameter struct {
	Offset, Size, Align int // bytes
}

// Kernel is an entry of a module.
type Kernel struct {
	Name       string
	Parameters []Parameter
	ParamBytes int // size of the params of Run
	Shared     int // bytes of shared memory that every launch has, besides those it asks for
	Local      int // bytes of local memory per thread
	MaxThreads int // most threads of a block, from .maxntid; 0: not given
	Registers  int // 64-bit slots per thread, as packed by this package
	exact      [3]uint32

	module    *Module
	code      []inst
	first     int32 // instruction
	sites     int   // instructions that reach memory
	frame     int   // bytes of local memory per thread: stack, and parameters of calls
	consts    []vec
	regs      int // vectors of a warp
	preds     int
	returns   int // functions that may be called
	granule   int // bytes of the smallest access to shared memory
	grain     int // bytes of the smallest access to device memory
	barriers  bool
	dependent bool // blocks communicate: run them in order on one worker
}

// modules counts modules, so that each has addresses of its own.
var modules atomic.Uint64

// Parse reads a module and prepares its kernels. A syntax error, an unknown opcode or
// modifier, and operands that do not fit their instruction are a *ParseError with the
// line.
func Parse(text string) (m *Module, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *ParseError:
			m, err = nil, e
		default:
			panic(e)
		}
	}()
	m = &Module{functions: map[string]*function{}, kernels: map[string]*Kernel{}, lines: strings.Split(text, "\n")}
	p := &parser{tokens: lex(text), m: m, module: newScope(nil)}
	p.parse()
	m.place(p.module)
	for _, name := range sorted(m.functions) {
		if f := m.functions[name]; f.entry && f.defined {
			m.kernels[name] = m.lower(f)
		}
	}
	return m, nil
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Kernel finds an entry by its name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("find kernel %q: the module has %s", name, strings.Join(sorted(m.kernels), ", "))
}

// Kernels lists the entries by name.
func (m *Module) Kernels() []string { return sorted(m.kernels) }

// place assigns addresses and initial values to the module's variables.
func (m *Module) place(names *scope) {
	address := moduleBase + modules.Add(1)<<36
	total := 0
	for _, v := range m.globals {
		if total += v.size; total > maxVariable {
			fail(v.line, "variables of more than %d bytes", maxVariable)
		}
		align := uint64(max(v.align, 16))
		address = (address + align - 1) &^ (align - 1)
		v.offset = address
		if v.data == nil {
			v.data = make([]byte, v.size)
		}
		m.memory = append(m.memory, &allocation{base: address, data: v.data})
		address += uint64(v.size) + guardBytes
	}
	for _, v := range m.globals {
		for _, r := range v.refs {
			to, ok := names.names[r.name].(*variable)
			if !ok || to.space != global {
				fail(r.line, "%s is no variable in global or constant memory", r.name)
			}
			binary.LittleEndian.PutUint64(v.data[r.at:], to.offset+uint64(r.off))
		}
	}
}

// line returns a line of the text, for errors.
func (m *Module) line(n int) string {
	if n < 1 || n > len(m.lines) {
		return ""
	}
	return strings.Join(strings.Fields(m.lines[n-1]), " ")
}
