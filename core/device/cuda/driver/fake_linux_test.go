//go:build !nogpu && (amd64 || arm64)

package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// fakeLibrary is a library of testdata, built and opened. The process has only one of each, so
// tests that use it do not run in parallel.
type fakeLibrary struct {
	path   string
	handle uintptr
}

// compiler is the path of a C compiler on this machine; "" if there is none.
var compiler = sync.OnceValue(func() string {
	for _, name := range []string{"gcc", "clang-19", "clang", "cc"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
})

var builds struct {
	sync.Mutex
	dir string
	at  map[string]*fakeLibrary
}

func TestMain(m *testing.M) {
	code := m.Run()
	if builds.dir != "" {
		os.RemoveAll(builds.dir)
	}
	os.Exit(code)
}

// build compiles a file of testdata into a library, once for each set of flags.
func build(t *testing.T, source string, flags ...string) *fakeLibrary {
	t.Helper()
	if compiler() == "" {
		t.Skip("no C compiler here (gcc or clang-19): the fake libraries cannot be built")
	}
	builds.Lock()
	defer builds.Unlock()
	key := source + strings.Join(flags, " ")
	if l := builds.at[key]; l != nil {
		l.reset(t)
		return l
	}
	if builds.at == nil {
		dir, err := os.MkdirTemp("", "pgrlab-fake")
		if err != nil {
			t.Fatal(err)
		}
		builds.dir, builds.at = dir, map[string]*fakeLibrary{}
	}
	path := filepath.Join(builds.dir, fmt.Sprintf("%d.so", len(builds.at)))
	args := append([]string{"-shared", "-fPIC", "-O1", "-o", path}, flags...)
	if out, err := exec.Command(compiler(), append(args, filepath.Join("testdata", source))...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	l := &fakeLibrary{path, handle}
	builds.at[key] = l
	return l
}

func (l *fakeLibrary) do(t *testing.T, name string, args ...uintptr) uintptr {
	t.Helper()
	f, err := purego.Dlsym(l.handle, name)
	if err != nil {
		t.Fatal(err)
	}
	r, _, _ := purego.SyscallN(f, args...)
	return r
}

func (l *fakeLibrary) reset(t *testing.T) { t.Helper(); l.do(t, "fake_reset") }

// fail makes the nth call of a function from now on return a code.
func (l *fakeLibrary) fail(t *testing.T, name string, nth, code int) {
	t.Helper()
	text := cString(name)
	l.do(t, "fake_fail", at(&text[0]), uintptr(nth), uintptr(code))
}

func (l *fakeLibrary) set(t *testing.T, name string, value int) {
	t.Helper()
	text := cString(name)
	l.do(t, "fake_set", at(&text[0]), uintptr(value))
}

// lines returns the calls so far.
func (l *fakeLibrary) lines(t *testing.T) []string {
	t.Helper()
	p := l.do(t, "fake_log")
	return strings.Split(strings.TrimSuffix(goString(*(*unsafe.Pointer)(unsafe.Pointer(&p))), "\n"), "\n")
}

var thread = regexp.MustCompile(`^\d+ `)

// calls returns the calls after the first since ones, without their threads and without
// cuCtxSetCurrent, which comes before every call that needs a context.
func (l *fakeLibrary) calls(t *testing.T, since int) []string {
	t.Helper()
	var all []string
	for _, line := range l.lines(t)[since:] {
		if line = strings.TrimSpace(thread.ReplaceAllString(line, "")); !strings.HasPrefix(line, "cuCtxSetCurrent") {
			all = append(all, line)
		}
	}
	return all
}

// expect compares calls.
func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the driver was called so:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// OpenFake opens the fake driver for tests outside this package. released says whether the device
// was given back with nothing left on it.
func OpenFake(t *testing.T) (c Context, released func() bool) {
	l, _, c := openFake(t, NativeOptions{})
	return c, func() bool {
		gave := false
		for _, call := range l.calls(t, 0) {
			if strings.HasPrefix(call, "cuDevicePrimaryCtxRelease_v2") {
				gave = call == "cuDevicePrimaryCtxRelease_v2 0 live=0"
				if !gave {
					break
				}
			}
		}
		return gave
	}
}
