package mujoco

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Runtime is the compiled engine. It is made once per process and never changes
// afterwards, so every goroutine may make instances from it.
type Runtime struct {
	wazero  wazero.Runtime
	module  wazero.CompiledModule
	byIndex []hostFunc          // the module's imports, in its order
	bySlot  map[uint32]hostFunc // imports that the function table refers to
	source  string
}

// hostFunc is an import of the module. The stack holds the arguments and receives the
// result; 32-bit values must be masked, because their upper half is undefined.
type hostFunc func(in *Instance, stack []uint64)

// instanceKey carries the calling *Instance through a context into the host
// functions, which all instances share.
type instanceKey struct{}

var loaded struct {
	sync.Mutex
	runtime *Runtime
}

// Load finds, checks and compiles the engine. The first call takes a second or two, or
// a fraction of that if compiled code is in the user's cache directory. Later calls return
// the same Runtime; calls made meanwhile wait for it. A failure is not remembered. It is
// safe to call Load in the background to have the engine ready when it is needed.
func Load(ctx context.Context) (*Runtime, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.runtime != nil {
		return loaded.runtime, nil
	}
	binary, source, err := read()
	if err != nil {
		return nil, err
	}
	r, err := compileCached(ctx, binary)
	if err != nil {
		return nil, fmt.Errorf("compile the physics: %w", err)
	}
	r.source = source
	loaded.runtime = r
	return r, nil
}

// Source says where the engine came from: "embedded" or a path.
func (r *Runtime) Source() string { return r.source }

// compileCached compiles with the disk cache, or without it if the cache cannot be used
// (no home, read-only, full, damaged).
func compileCached(ctx context.Context, binary []byte) (*Runtime, error) {
	if dir, err := cacheDir(); err == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, "wazero")); err == nil {
			if r, err := compile(ctx, binary, wazero.NewRuntimeConfig().WithCompilationCache(cache)); err == nil {
				return r, nil
			}
			cache.Close(ctx)
		}
	}
	return compile(ctx, binary, wazero.NewRuntimeConfig())
}

func compile(ctx context.Context, binary []byte, config wazero.RuntimeConfig) (*Runtime, error) {
	// Custom sections hold debugging names, which would only make errors longer.
	config = config.WithDebugInfoEnabled(false).WithCustomSections(false)
	w := wazero.NewRuntimeWithConfig(ctx, config)
	workers := experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	module, err := w.CompileModule(workers, binary)
	if err != nil {
		w.Close(ctx)
		return nil, err
	}
	r := &Runtime{wazero: w, module: module, bySlot: map[uint32]hostFunc{}}
	if err := r.provideImports(ctx, binary); err != nil {
		w.Close(ctx)
		return nil, err
	}
	return r, nil
}

// provideImports builds the host modules from the imports of the engine. An import that
// this host does not know is provided too and fails when called.
func (r *Runtime) provideImports(ctx context.Context, binary []byte) error {
	builders := map[string]wazero.HostModuleBuilder{}
	for _, def := range r.module.ImportedFunctions() {
		module, name, _ := def.Import()
		f := hostFunction(name)
		r.byIndex = append(r.byIndex, f)
		if builders[module] == nil {
			builders[module] = r.wazero.NewHostModuleBuilder(module)
		}
		builders[module].NewFunctionBuilder().
			WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
				f(ctx.Value(instanceKey{}).(*Instance), stack)
			}), def.ParamTypes(), def.ResultTypes()).
			Export(name)
	}
	slots, err := importedSlots(binary, uint32(len(r.byIndex)))
	if err != nil {
		return err
	}
	for slot, index := range slots {
		r.bySlot[slot] = r.byIndex[index]
	}
	for _, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hostFunction finds the Go function behind an import.
func hostFunction(name string) hostFunc {
	if signature, ok := strings.CutPrefix(name, "invoke_"); ok {
		return invoke(signature)
	}
	for _, table := range []map[string]hostFunc{embindFunctions, emvalFunctions, exceptionFunctions, systemFunctions, fileFunctions} {
		if f, ok := table[name]; ok {
			return f
		}
	}
	return func(*Instance, []uint64) {
		panic(&Error{Message: "host function " + name + " is not implemented"})
	}
}
