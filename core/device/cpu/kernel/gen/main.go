// Command gen writes the assembly of the kernels and its Go declarations with avo. It is run by `go
// generate` in core/device/cpu/kernel. Its output is committed, and a test of this command checks
// that the output is current.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	dir := "."
	if len(os.Args) == 2 {
		dir = os.Args[1]
	}
	for _, f := range append(slices.Clone(isas), tiles) {
		files, err := f.generate()
		for name, text := range files {
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// compile returns the functions of one family with their registers allocated.
func (s isa) compile() (*ir.File, error) {
	g := newGen(s)
	s.emit(g)
	file, err := g.Result()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return file, nil
}

// generate returns the files of one family, keyed by name.
func (s isa) generate() (map[string][]byte, error) {
	file, err := s.compile()
	if err != nil {
		return nil, err
	}
	config := printer.Config{Name: "core/device/cpu/kernel/gen", Pkg: "kernel"}
	encode(file)
	text, err := printer.NewGoAsm(config).Print(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	stubs, err := printer.NewStubs(config).Print(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return map[string][]byte{s.name + "_amd64.s": text, s.name + "_stubs_amd64.go": stubs}, nil
}
