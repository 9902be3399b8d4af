package optest

import (
	"slices"

	"pgrlab/core/op"
)

// All is the table.
func All() []Case { return slices.Concat(Vectors(), Images()) }

// Vectors returns the cases of operations on rows that are not images.
func Vectors() []Case {
	return slices.Concat(linear(), elementwise(), choices(), columns(), members(), policy(), losses(), norms(), groups(), recurrent(), rows())
}

func linear() []Case {
	return []Case{
		{Name: "Linear", Empty: true, Build: func(d *Builder) *op.Node {
			return d.Linear(d.X(), d.Param("w", Normal, d.Lead(d.C, 3)...), d.Param("b", Normal, d.Lead(3)...))
		}},
		{Name: "Linear to one", Empty: true, Build: func(d *Builder) *op.Node {
			return d.Linear(d.X(), d.Param("w", Normal, d.Lead(d.C, 1)...), d.Param("b", Normal, d.Lead(1)...))
		}},
		{Name: "Linear of a shared x", Empty: true, Build: func(d *Builder) *op.Node {
			return d.Linear(d.Param("x", Normal, d.B, d.C), d.Param("w", Normal, d.Lead(d.C, 5)...), d.Param("b", Normal, d.Lead(5)...))
		}},
		{Name: "Linear of two inputs", Empty: true, Build: func(d *Builder) *op.Node {
			x := d.Concat(d.X(), d.Param("y", Normal, d.Rows(2)...))
			return d.Linear(x, d.Param("w", Normal, d.Lead(d.C+2, 9)...), d.Param("b", Normal, d.Lead(9)...))
		}},
		{Name: "Linear of two wide inputs", Empty: true, Build: func(d *Builder) *op.Node {
			x := d.Concat(d.Param("x", Normal, d.Rows(d.C+32)...), d.Param("y", Normal, d.Rows(35)...))
			return d.ReLU(d.Linear(x, d.Param("w", Normal, d.Lead(d.C+67, 5)...), d.Param("b", Normal, d.Lead(5)...)))
		}},
		{Name: "Linear of shared wide inputs", Empty: true, Build: func(d *Builder) *op.Node {
			x := d.Concat(d.Given("x", Normal, d.B, 32), d.Param("y", Normal, d.B, 32+d.C))
			return d.Linear(x, d.Param("w", Normal, d.Lead(64+d.C, 3)...), d.Param("b", Normal, d.Lead(3)...))
		}},
		{Name: "Linear beside what is given", Empty: true, Build: func(d *Builder) *op.Node {
			x := d.Concat(d.Given("x", Normal, d.Rows(3)...), d.Param("y", Normal, d.Rows(d.C)...))
			return d.Linear(x, d.Given("w", Normal, d.Lead(d.C+3, 6)...), d.Given("b", Normal, d.Lead(6)...))
		}},
		{Name: "LinearAt", Empty: true, Build: func(d *Builder) *op.Node {
			n := max(d.N, 1)
			w, b := d.Given("w", Normal, n, d.C, 2), d.Given("b", Normal, n, 2)
			return d.LinearAt(d.Given("x", Normal, d.B, d.C), w, b, d.Given("members", Below(n), 2))
		}},
		{Name: "LinearAt of members", Empty: true, Build: func(d *Builder) *op.Node {
			n := max(d.N, 1)
			w, b := d.Given("w", Normal, n, d.C, 2), d.Given("b", Normal, n, 2)
			return d.LinearAt(d.Given("x", Normal, 2, d.B, d.C), w, b, d.Given("members", Below(n), 2))
		}},
		{Name: "noisy linear", Empty: true, Build: noisy},
	}
}

// noisy is a layer with factorised noise (Fortunato et al. 2018, equations 9-11).
func noisy(d *Builder) *op.Node {
	in, out := d.SignedSqrt(d.Given("in", Normal, d.Lead(d.C)...)), d.SignedSqrt(d.Given("out", Normal, d.Lead(4)...))
	x := d.X()
	mean := d.Linear(x, d.Param("w", Normal, d.Lead(d.C, 4)...), d.Param("b", Normal, d.Lead(4)...))
	spread := d.Linear(d.ColScale(x, in), d.Param("sw", Normal, d.Lead(d.C, 4)...), d.Param("sb", Normal, d.Lead(4)...))
	return d.Add(mean, d.ColScale(spread, out))
}

// of makes a case from a function of x.
func of(name string, holds Of, f func(g *op.Graph, x *op.Node) *op.Node) Case {
	return Case{Name: name, Empty: true, Build: func(d *Builder) *op.Node {
		return f(d.Graph, d.Param("x", holds, d.Rows(d.C)...))
	}}
}

func elementwise() []Case {
	wide := Wide(2)
	return []Case{
		of("ReLU", wide, (*op.Graph).ReLU), of("Tanh", wide, (*op.Graph).Tanh), of("SiLU", wide, (*op.Graph).SiLU),
		of("Mish", wide, (*op.Graph).Mish), of("ELU", wide, (*op.Graph).ELU), of("Exp", Normal, (*op.Graph).Exp),
		of("Log", Positive, (*op.Graph).Log), of("Square", wide, (*op.Graph).Square), of("Sqrt", Positive, (*op.Graph).Sqrt),
		of("Softplus", wide, (*op.Graph).Softplus), of("Sigmoid", wide, (*op.Graph).Sigmoid),
		of("Scale", wide, func(g *op.Graph, x *op.Node) *op.Node { return g.Scale(x, -1.7) }),
		of("Shift", wide, func(g *op.Graph, x *op.Node) *op.Node { return g.Shift(x, -1.7) }),
		of("Clamp", wide, func(g *op.Graph, x *op.Node) *op.Node { return g.Clamp(x, -0.4, 1.5) }),
		{Name: "StopGradient", Empty: true, Build: func(d *Builder) *op.Node {
			return d.Add(d.X(), d.StopGradient(d.Tanh(d.Given("still", Normal, d.Rows(d.C)...))))
		}},
		{Name: "SignedSqrt", Empty: true, Build: func(d *Builder) *op.Node { return d.SignedSqrt(d.Given("x", Normal, d.Rows(d.C)...)) }},
	}
}

// both makes a case from a function of x and y.
func both(name string, f func(g *op.Graph, x, y *op.Node) *op.Node) Case {
	return Case{Name: name, Empty: true, Build: func(d *Builder) *op.Node {
		return f(d.Graph, d.X(), d.Param("y", Positive, d.Rows(d.C)...))
	}}
}

func choices() []Case {
	return []Case{
		both("Add", (*op.Graph).Add), both("Sub", (*op.Graph).Sub), both("Mul", (*op.Graph).Mul), both("Div", (*op.Graph).Div),
		both("Minimum", (*op.Graph).Minimum), both("Maximum", (*op.Graph).Maximum),
		both("two users", func(g *op.Graph, x, y *op.Node) *op.Node { return g.Mul(g.Tanh(x), g.Add(x, y)) }),
	}
}

func columns() []Case {
	return []Case{
		{Name: "RowScale", Empty: true, Build: func(d *Builder) *op.Node {
			return d.RowScale(d.X(), d.Given("s", Normal, d.Rows(1)...))
		}},
		{Name: "RowScale by a shared s", Empty: true, Build: func(d *Builder) *op.Node {
			return d.RowScale(d.X(), d.Given("s", Normal, d.B, 1))
		}},
		{Name: "ColScale", Empty: true, Build: func(d *Builder) *op.Node { return d.ColScale(d.X(), d.Param("s", Normal, d.Lead(d.C)...)) }},
		{Name: "ColAdd", Empty: true, Build: func(d *Builder) *op.Node { return d.ColAdd(d.X(), d.Param("s", Normal, d.Lead(d.C)...)) }},
		{Name: "AddColumns", Empty: true, Build: func(d *Builder) *op.Node {
			return d.AddColumns(d.Param("a", Normal, d.Rows(d.C+3)...), d.Param("b", Normal, d.Rows(d.C)...), 2)
		}},
		{Name: "columns added to a layer", Empty: true, Build: func(d *Builder) *op.Node {
			y := d.Linear(d.X(), d.Given("w", Normal, d.Lead(d.C, 60)...), d.Given("b", Normal, d.Lead(60)...))
			return d.AddColumns(d.Add(d.Given("from", Normal, d.Rows(60)...), y), d.Given("to", Normal, d.Rows(20)...), 40)
		}},
		{Name: "Concat", Empty: true, Build: func(d *Builder) *op.Node {
			x, y := d.X(), d.Param("y", Normal, d.Rows(3)...)
			return d.Slice(d.Concat(x, y, x), 1, d.C+3)
		}},
		of("SumColumns", Normal, (*op.Graph).SumColumns), of("MeanColumns", Normal, (*op.Graph).MeanColumns),
		{Name: "SpreadColumns", Empty: true, Build: func(d *Builder) *op.Node {
			return d.SpreadColumns(d.Param("x", Normal, d.Rows(1)...), d.C)
		}},
		of("Sum", Normal, func(g *op.Graph, x *op.Node) *op.Node { return g.Sum(g.Square(x), 7) }),
		{Name: "Mean", Build: func(d *Builder) *op.Node { return d.Mean(d.Square(d.X())) }},
		{Name: "sum of a vector", Build: func(d *Builder) *op.Node { return d.Sum(d.Square(d.Param("x", Normal, d.C)), 2) }},
	}
}

func members() []Case {
	return []Case{
		{Name: "Members", Flat: true, Empty: true, Build: func(d *Builder) *op.Node { return d.Members(d.X(), 3) }},
		{Name: "Members of a vector", Flat: true, Build: func(d *Builder) *op.Node { return d.Members(d.Param("x", Normal, d.C), d.B) }},
		{Name: "SumMembers", Empty: true, Build: func(d *Builder) *op.Node {
			return d.SumMembers(d.Param("x", Normal, max(1, d.N), d.B, d.C))
		}},
		{Name: "SumMembers of vectors", Build: func(d *Builder) *op.Node { return d.SumMembers(d.Param("x", Normal, d.B, d.C)) }},
		{Name: "SplitColumns", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
			return d.SplitColumns(d.Param("x", Normal, d.B, 3*d.C), 3)
		}},
		{Name: "JoinMembers", Empty: true, Build: func(d *Builder) *op.Node {
			return d.JoinMembers(d.Param("x", Normal, max(1, d.N), d.B, d.C))
		}},
		{Name: "JoinPlaces", Empty: true, Build: func(d *Builder) *op.Node {
			return d.JoinPlaces(d.Param("x", Normal, max(1, d.N), d.B, 4*d.C), 4)
		}},
		{Name: "block-linear", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
			x := d.SplitColumns(d.Param("x", Normal, d.B, 4*d.C), 4)
			return d.JoinMembers(d.Linear(x, d.Param("w", Normal, 4, d.C, 3), d.Param("b", Normal, 4, 3)))
		}},
		{Name: "MeanMembers", Empty: true, Build: func(d *Builder) *op.Node {
			return d.MeanMembers(d.Param("x", Normal, max(1, d.N), d.B, d.C))
		}},
		{Name: "MinMembers", Empty: true, Build: func(d *Builder) *op.Node {
			return d.MinMembers(d.Param("x", Normal, max(1, d.N), d.B, d.C))
		}},
	}
}
