package emulator

import (
	"fmt"
	"sync"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/testing/ptx"
)

// module is PTX ready to be interpreted.
type module struct {
	context    *gpuContext
	module     *ptx.Module
	signatures map[string]driver.Signature
}

// function is one kernel of a module.
type function struct {
	context   *gpuContext
	kernel    *ptx.Kernel
	signature driver.Signature
}

func (c *gpuContext) Load(text string) (driver.Module, error) {
	if err := c.Enter("load kernels", false); err != nil {
		return nil, err
	}
	defer c.Leave()
	if err := driver.Accepts(text, c.machine.version, c.info); err != nil {
		return nil, err
	}
	if err := c.injected("load kernels", "cuModuleLoadDataEx"); err != nil {
		return nil, err
	}
	m, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("load kernels: %w", err)
	}
	return &module{context: c, module: m.module, signatures: m.signatures}, nil
}

// parsed holds the modules that were loaded, by their text, like the cache of compiled kernels
// of a real driver.
var parsed sync.Map

func parse(text string) (m module, err error) {
	if m, ok := parsed.Load(text); ok {
		return m.(module), nil
	}
	if m.signatures, err = driver.Signatures(text); err != nil {
		return m, err
	}
	if m.module, err = ptx.Parse(text); err == nil && m.module.Stateless() {
		parsed.Store(text, m)
	}
	return m, err
}

func (m *module) Function(name string) (driver.Function, error) {
	c := m.context
	if err := c.Enter("find kernel "+name, false); err != nil {
		return nil, err
	}
	defer c.Leave()
	if err := c.injected("find kernel "+name, "cuModuleGetFunction"); err != nil {
		return nil, err
	}
	k, err := m.module.Kernel(name)
	if err != nil {
		return nil, err
	}
	s, known := m.signatures[name]
	if !known {
		return nil, fmt.Errorf("find kernel %s: its .entry was not understood", name)
	}
	return &function{context: m.context, kernel: k, signature: s}, nil
}

func (f *function) Name() string { return f.kernel.Name }

func (f *function) Resources() driver.Resources { return driver.Resources{} }

// run interprets a launch. Only here is the total of shared memory known: the kernel's own and
// the part that the launch asks for.
func (f *function) run(m *memory, grid, block [3]uint32, shared uint32, params []byte) error {
	if most := f.context.info.SharedPerBlock; most > 0 && f.kernel.Shared+int(shared) > most {
		return fmt.Errorf("launch %s: %d + %d bytes of shared memory, and a block may have %d", f.Name(), f.kernel.Shared, shared, most)
	}
	return f.kernel.Run(m.device, grid, block, shared, params)
}
