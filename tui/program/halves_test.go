package program

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// halvesVariable makes a second process do half of the tests. make test gives it another value each
// time: the Go tool does not know which files that process reads, so it may not keep the result.
const halvesVariable = "PGRLAB_TEST_HALVES"

// runTests runs the tests. In halves, this process has every second test and another one the rest:
// most wait for processes and terminals, and cannot be parallel, because they change the folder and
// the environment of their process.
func runTests(m *testing.M) int {
	whole := os.Getenv(halvesVariable) == "" || slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.run") })
	os.Unsetenv(halvesVariable) // what this process starts is no such process
	if whole {
		return m.Run()
	}
	listed, err := exec.Command(os.Args[0], "-test.list", ".").Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "list the tests: %v\n", err)
		return 1
	}
	halves := [2][]string{}
	for i, name := range strings.Fields(string(listed)) {
		halves[i%2] = append(halves[i%2], name)
	}
	pattern := func(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "-test.testlogfile=") })
	other := exec.Command(os.Args[0], append(args, "-test.run="+pattern(halves[1]))...)
	var said bytes.Buffer
	other.Stdout, other.Stderr = &said, &said
	if err := other.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "start the other half of the tests: %v\n", err)
		return 1
	}
	if err := flag.Set("test.run", pattern(halves[0])); err != nil {
		panic(err)
	}
	status := m.Run()
	err = other.Wait()
	os.Stdout.Write(said.Bytes())
	if err != nil && status == 0 {
		status = other.ProcessState.ExitCode()
	}
	return status
}
