package cuda

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgrlab/core/device/cuda/driver"
	"pgrlab/core/device/cuda/kernel"
)

// launched counts the kernels that checks have launched in this process; those of a graph are
// launched when it is captured.
var launched struct {
	sync.Mutex
	names map[string]int
}

// noted is a context that records the launched kernels.
type noted struct{ driver.Context }

func (n noted) Launch(f driver.Function, grid, block [3]uint32, shared uint32, args ...driver.Arg) error {
	launched.Lock()
	if launched.names == nil {
		launched.names = map[string]int{}
	}
	launched.names[f.Name()]++
	launched.Unlock()
	return n.Context.Launch(f, grid, block, shared, args...)
}

// noting opens what open opens, and records the kernels that it launches.
func noting(open func() (driver.Context, error)) func() (driver.Context, error) {
	return func() (driver.Context, error) {
		c, err := open()
		if err != nil {
			return nil, err
		}
		return noted{c}, nil
	}
}

// TestMain checks, when all tests have run, that together they have launched every kernel of every
// module: a kernel that no check launches on a card is not known to work on one. If tests run in
// processes of their own, as under check.py, -test.v reports what this process has launched.
func TestMain(m *testing.M) {
	code := m.Run()
	if testing.Verbose() {
		fmt.Println("launched:", strings.Join(slices.Sorted(maps.Keys(launched.names)), " "))
	}
	if !onGPU && code == 0 && everything() {
		if missing := unlaunched(); len(missing) > 0 {
			fmt.Printf("FAIL: no test here launches the kernels %s: it is not known whether they work on a card\n", strings.Join(missing, ", "))
			code = 1
		}
	}
	os.Exit(code)
}

// everything says whether no test was left out.
func everything() bool {
	for _, name := range []string{"run", "skip", "list", "bench", "fuzz"} {
		if f := flag.Lookup("test." + name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return !testing.Short()
}

// unlaunched returns the kernels of all modules that were not launched.
func unlaunched() (missing []string) {
	modules, err := kernel.Modules(90)
	if err != nil {
		return []string{err.Error()}
	}
	for _, m := range modules {
		for _, k := range m.Kernels {
			if launched.names[k] == 0 {
				missing = append(missing, k)
			}
		}
	}
	return missing
}

// report writes a line, a word and JSON, for programs that read the output of tests.
func report(t *testing.T, what string, v any) {
	t.Helper()
	line, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s", what, line)
}
