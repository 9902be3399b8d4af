package kernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/rng"
)

// counting is a machine that computes nothing and records how much work each call of its assembly
// would have had.
func counting(x machine, note func(function string, vectors int)) *machine {
	v := reflect.ValueOf(&x).Elem()
	lanes := x.lanes
	tiles := func(name string, kernels []tileFunc, vecs func(rows int) int) []tileFunc {
		kernels = slices.Clone(kernels)
		for rows := range kernels {
			kernels[rows] = func(blocks, k int, _ *float32, _, _ int, _ *float32, _ int, _ *float32, _ int, _ *float32, _, _, _ int, _, _ *float32, _ uintptr, _, _, _, _ int) {
				note(name, blocks*rows*max(k, 1)*vecs(rows))
			}
		}
		return kernels
	}
	of := func(vecs int) func(int) int { return func(int) int { return vecs } }
	x.pair, x.pairTail, x.single = tiles("pair", x.pair, of(2)), tiles("pairTail", x.pairTail, of(2)), tiles("single", x.single, of(1))
	x.full, x.wide = tiles("full", x.full, of(x.fullVecs)), tiles("wide", x.wide, func(rows int) int { return x.wideVecs[rows] })
	lines := func(kernels []linesFunc, vecs int) []linesFunc {
		kernels = slices.Clone(kernels)
		for rows := range kernels {
			kernels[rows] = func(blocks, lines, k int, _ *float32, _, _, _ int, _, _ *float32, _, _, _ int, _, _ *float32) {
				note("lines", blocks*rows*lines*k*vecs)
			}
		}
		return kernels
	}
	x.patchTiles = patchTiles{lines(x.patchTiles.pair, 2), lines(x.patchTiles.pairTail, 2), lines(x.patchTiles.single, 1)}
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.Kind() != reflect.Func || f.IsNil() {
			continue
		}
		made := reflect.MakeFunc(f.Type(), func(args []reflect.Value) (results []reflect.Value) {
			note(name, vectorsOf(name, args, lanes))
			for j := range f.Type().NumOut() {
				results = append(results, reflect.Zero(f.Type().Out(j)))
			}
			return results
		})
		reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(made)
	}
	return &x
}

// vectorsOf returns the number of vectors that a call reads or makes, of everything that grows with
// its operands.
func vectorsOf(name string, args []reflect.Value, lanes int) int {
	n := int(args[0].Int())
	switch name {
	case "mirrored":
		return n * 4
	case "rmsNorm", "rmsNormDX", "rmsNormDGamma": // rows of some vectors
		return n * int(args[1].Int())
	case "pack", "packTail", "packFull", "normals":
		return n * 4
	case "rowDot1", "rowDot4": // blocks of one row and of four, of k numbers
		return n * int(args[1].Int()) * 4 / lanes
	case "colSum8", "colSum1":
		return n * int(args[1].Int()) / lanes
	case "transpose8", "transpose16":
		return n * 16
	case "fromBytes":
		return n
	}
	return n / lanes
}

// Go cannot preempt assembly, so every call must be short. A call that adds up products or rows
// does at most four million multiply-adds of vectors, of which a core does one or two per cycle. A
// call over elements, which may take some tens of cycles per vector, does at most a thousandth of
// that: about a millisecond at most. TestPreemption measures the effect.
func TestCallsOfAssemblyAreShort(t *testing.T) {
	const most, maxElements = 4 << 20, 4 << 10
	for name, x := range map[string]*machine{"avx2": avx2, "avx512": avx512} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]int{}
			f := counting(*x, func(function string, vectors int) { seen[function] = max(seen[function], vectors) }).family(name)
			for _, p := range []struct{ m, n, k int }{
				{2048, 2048, 1024}, {1, 1 << 16, 64}, {23, 1024, 4096}, {1 << 18, 8, 32}, {1 << 16, 16, 4096}, {8, 8, 1 << 18}, {1 << 14, 33, 512}, {3, 1 << 12, 512}, {64, 100, 1 << 14},
			} {
				a, b, c := make([]float32, p.m+p.k), make([]float32, p.k*p.n), make([]float32, p.m*p.n) // rows of A overlap: nothing is computed
				f.Gemm(p.m, p.n, p.k, a, 1, 1, b, p.n, c, p.n, Epilogue{})
				f.GemmBT(p.m, p.n, p.k, a, 1, 1, b, p.k, c, p.n, Epilogue{Accumulate: true})
			}
			x, y, z := make([]float32, 1<<22), make([]float32, 1<<22), make([]float32, 1<<22)
			for _, p := range []Patches{{1, 0, 1 << 12, 1, 64, 64, 64, 1}, {3, 100, 512, 1, 112, 224, 112, 2}, {1, 0, 1 << 16, 1, 3, 64, 3, 1}} {
				for _, n := range []int{8, 16, 24, 32, 40} {
					f.MulPatches(p, n, x, y, z, p.Inner*n, n, Epilogue{})
				}
			}
			f.RowDot(1<<12, 1<<10, x, 1<<10, y[:1<<10], 0, z, 1)
			f.RowDot(4, 1<<14, x, 1<<14, y[:1<<14], 0, z, 1)
			f.ColSum(1<<11, 1<<11, x, 1<<11, y)
			f.ColSum(1<<20, 4, x, 4, y)
			f.Transpose(1<<11, 1<<11, x, 1<<11, y, 1<<11)
			for _, do := range []func(dst, a, b []float32){f.Add, f.Sub, f.Mul, f.ReLUGrad, f.TanhGrad, f.SiLUGrad, f.MishGrad, f.ELUGrad, f.SigmoidGrad, f.SoftplusGrad} {
				do(z, x, y)
			}
			for _, do := range []func(dst, a []float32){f.ReLU, f.Tanh, f.SiLU, f.Mish, f.ELU, f.Exp, f.Log, f.Sigmoid, f.Softplus} {
				do(z, x)
			}
			for _, do := range []func(dst, a []float32, c float32){f.Scale, f.Lerp} {
				do(z, x, 2)
			}
			f.Axpy(z, 2, x)
			f.SumSquares(x, nil)
			f.SumSquares(x, y)
			f.SumSquaredDiff(x, y)
			f.Adam(x, y, z, make([]float32, 1<<22), nil, &AdamStep{})
			f.Adam(x, y, z, make([]float32, 1<<22), make([]float32, 1<<22), &AdamStep{})
			f.LaProp(x, y, z, make([]float32, 1<<22), nil, &AdamStep{})
			f.LaProp(x, y, z, make([]float32, 1<<22), make([]float32, 1<<22), &AdamStep{})
			f.Normals(x, rng.New(1, "calls"), 0, 0)
			f.FromBytes(x, make([]byte, len(x)), 0)
			f.Largest(x)
			f.ExpSum(z, x, 0)
			f.Sum(x)
			f.Dot(x, y)
			f.MirroredDot(x, y)
			f.GroupSoftmax4(z, x, 1, 0)
			f.GatedUpdate(z, x, y, x, y)
			f.GatedGrad(z, z, z, x, y, x, y, x)
			f.GatedKeep(z, x, y)
			for _, cols := range []int{64, 1 << 15} {
				f.RMSNorm(z, x, y[:cols], 1)
				f.RMSNormDX(z, x, y[:cols], x, 1)
				f.RMSNormDGamma(z[:cols], x, y, 1)
			}
			for function, vectors := range seen {
				limit := maxElements
				switch function {
				case "lines", "pair", "pairTail", "single", "wide", "full", "rowDot1", "rowDot4", "colSum1", "colSum8":
					limit = most
				}
				if t.Logf("%-12s %8d vectors in the longest call", function, vectors); vectors > limit {
					t.Errorf("%s: a call of %d vectors, want at most %d", function, vectors, limit)
				}
			}
		})
	}
}

// productFiles returns the files of this package without its tests.
func productFiles(t *testing.T, files *token.FileSet) (all []*ast.File) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	}
	return all
}

// Each call of assembly is made by a function that is not inlined and whose prologue checks whether
// the scheduler or the collector is due.
func TestAssemblyIsCalledWhereOthersGetTheirTurn(t *testing.T) {
	files := token.NewFileSet()
	assembly, fields, functions := map[string]bool{}, map[string]bool{}, []*ast.FuncDecl{}
	for _, file := range productFiles(t, files) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
				assembly[f.Name.Name] = true
			} else if ok {
				functions = append(functions, f)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if ok && spec.Name.Name == "machine" {
				body := spec.Type.(*ast.StructType)
				for _, field := range body.Fields.List {
					for _, name := range field.Names {
						fields[name.Name] = true
					}
				}
			}
			return !ok
		})
	}
	if len(assembly) < 100 || !fields["mish"] {
		t.Fatalf("%d functions of assembly, %d of a machine: the test looks in the wrong place", len(assembly), len(fields))
	}
	calls := 0
	for _, f := range functions {
		if called := callsAssembly(f, assembly, fields); called != "" {
			calls++
			if !directed(f, "noinline") || directed(f, "nosplit") {
				t.Errorf("%s: %s calls %s: want //go:noinline, and no nosplit", files.Position(f.Pos()), f.Name.Name, called)
			}
		}
	}
	if calls < 10 {
		t.Errorf("%d functions call assembly: the test looks in the wrong place", calls)
	}
}

// callsAssembly returns the name of the assembly that a function calls: a function without a body,
// one of a machine, or one that it was given; "" for none.
func callsAssembly(f *ast.FuncDecl, assembly, fields map[string]bool) (called string) {
	given := map[string]bool{}
	for _, p := range f.Type.Params.List {
		kind := p.Type
		if list, ok := kind.(*ast.ArrayType); ok {
			kind = list.Elt
		}
		name, named := kind.(*ast.Ident)
		plain, ok := kind.(*ast.FuncType)
		if named && strings.HasSuffix(name.Name, "Func") || ok && takesPointers(plain) {
			for _, name := range p.Names {
				given[name.Name] = true
			}
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			if assembly[fun.Name] || given[fun.Name] {
				called = fun.Name
			}
		case *ast.SelectorExpr:
			if of, ok := fun.X.(*ast.Ident); ok && of.Name == "x" && fields[fun.Sel.Name] {
				called = fun.Sel.Name
			}
		case *ast.IndexExpr:
			if of, ok := fun.X.(*ast.Ident); ok && given[of.Name] {
				called = of.Name
			}
		}
		return true
	})
	return called
}

// takesPointers says whether a function works on memory: functions that are not assembly take
// numbers or slices.
func takesPointers(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool { _, ok := p.Type.(*ast.StarExpr); return ok })
}

// directed says whether a function has a compiler directive.
func directed(f *ast.FuncDecl, directive string) bool {
	return f.Doc != nil && slices.ContainsFunc(f.Doc.List, func(c *ast.Comment) bool { return c.Text == "//go:"+directive })
}
