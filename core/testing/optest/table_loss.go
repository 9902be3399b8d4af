package optest

import (
	"fmt"
	"math"

	"pgrlab/core/op"
)

// whole makes whole numbers near zero.
func whole(z float64) float64 { return math.Round(3 * z) }

func policy() []Case {
	return []Case{
		{Name: "TanhGaussian", Empty: true, Build: func(d *Builder) *op.Node {
			return d.TanhGaussian(d.Param("h", Normal, d.Rows(2*d.C)...), d.Given("eps", Wide(1), d.Rows(d.C)...))
		}},
		{Name: "TDTarget", Empty: true, Build: func(d *Builder) *op.Node {
			column := func(name string, of Of) *op.Node { return d.Given(name, of, d.Rows(1)...) }
			return d.TDTarget(column("r", Normal), column("d", Bit), column("q", Normal), column("logp", Normal),
				d.Given("gamma", Unit, 1), d.Given("alpha", Unit, 1))
		}},
		{Name: "EntropyLoss", Build: func(d *Builder) *op.Node {
			return d.EntropyLoss(d.Param("logp", Normal, d.Rows(1)...), d.Param("q", Normal, d.Rows(1)...), d.Given("alpha", Unit, 1))
		}},
	}
}

// loss makes the cases of a loss of x against targets: targets shared by all members or one for
// each member, weighted and unweighted.
func loss(name string, target Of, f func(g *op.Graph, p, t *op.Node, w ...*op.Node) *op.Node) []Case {
	return []Case{
		{Name: name, Empty: true, Build: func(d *Builder) *op.Node {
			return f(d.Graph, d.Param("x", Wide(2), d.Rows(d.C)...), d.Given("t", target, d.B, d.C))
		}},
		{Name: name + " weighted", Empty: true, Build: func(d *Builder) *op.Node {
			return f(d.Graph, d.Param("x", Wide(2), d.Rows(d.C)...), d.Given("t", target, d.Rows(d.C)...), d.Given("w", Positive, d.B, 1))
		}},
		{Name: name + " weighted by member", Empty: true, Build: func(d *Builder) *op.Node {
			return f(d.Graph, d.Param("x", Wide(2), d.Rows(d.C)...), d.Given("t", target, d.Rows(d.C)...), d.Given("w", Positive, d.Rows(1)...))
		}},
	}
}

func losses() []Case {
	all := loss("SquaredError", Normal, func(g *op.Graph, p, t *op.Node, w ...*op.Node) *op.Node {
		if len(w) == 1 {
			return g.WeightedSquaredError(p, t, w[0], 3)
		}
		return g.SquaredError(p, t, 3)
	})
	all = append(all, loss("BCE", Unit, func(g *op.Graph, p, t *op.Node, w ...*op.Node) *op.Node { return g.BCE(p, t, 3, w...) })...)
	all = append(all, loss("CrossEntropy", Unit, func(g *op.Graph, p, t *op.Node, w ...*op.Node) *op.Node { return g.CrossEntropy(p, t, 3, w...) })...)
	return append(all,
		Case{Name: "GaussianKL", Empty: true, Build: func(d *Builder) *op.Node {
			return d.GaussianKL(d.Param("h", Normal, d.Rows(2*d.C)...), 3)
		}},
		Case{Name: "AddScalars", Build: func(d *Builder) *op.Node { return d.AddScalars(d.Mean(d.Tanh(d.X())), d.Mean(d.X())) }},
		Case{Name: "two-hot loss", Empty: true, Build: func(d *Builder) *op.Node {
			t := d.TwoHotAt(d.Given("t", Wide(2), d.Rows(1)...), d.Ascending("bins", Wide(1), d.C))
			return d.CrossEntropy(d.Param("x", Normal, d.Rows(d.C)...), t, 3)
		}},
		Case{Name: "TwoHotAt of numbers on bins", Empty: true, Build: func(d *Builder) *op.Node {
			return d.TwoHotAt(d.Given("t", whole, d.Rows(1)...), d.Ascending("bins", whole, d.C))
		}},
		Case{Name: "BinMean", Empty: true, Build: func(d *Builder) *op.Node {
			return d.BinMean(d.Given("z", Wide(2), d.Rows(d.C)...), d.Ascending("bins", Wide(3), d.C))
		}},
		Case{Name: "RowMeanSquare", Empty: true, Build: func(d *Builder) *op.Node {
			return d.RowMeanSquare(d.Given("a", Normal, d.Rows(d.C)...), d.Given("b", Normal, d.Rows(d.C)...))
		}},
	)
}

func norms() []Case {
	return []Case{
		// With few rows or columns the normalised numbers hardly depend on x: the terms of
		// the gradient cancel and what remains is rounding error.
		{Name: "BatchNorm", Rows: 5, Tolerance: 3e-5, Build: func(d *Builder) *op.Node {
			x := d.X()
			return d.BatchNorm(x, d.Param("gamma", Normal, d.Lead(d.C)...), d.Param("beta", Normal, d.Lead(d.C)...), d.BatchStats(x))
		}},
		{Name: "BatchNormEval", Empty: true, Build: func(d *Builder) *op.Node {
			return d.BatchNormEval(d.Given("x", Normal, d.Rows(d.C)...), d.Given("gamma", Normal, d.Lead(d.C)...), d.Given("beta", Normal, d.Lead(d.C)...),
				d.Given("running", Positive, d.Lead(3, d.C)...))
		}},
		{Name: "LayerNorm", Empty: true, Build: func(d *Builder) *op.Node {
			cols := d.C + 2
			return d.LayerNorm(d.Param("x", Normal, d.Rows(cols)...), d.Param("gamma", Normal, d.Lead(cols)...), d.Param("beta", Normal, d.Lead(cols)...), 1e-3)
		}},
		// A row of one number is normalised to its sign: next to nothing remains of the gradient.
		{Name: "RMSNorm", Empty: true, Build: func(d *Builder) *op.Node {
			return d.RMSNorm(d.Param("x", Normal, d.Rows(d.C)...), d.Param("gamma", Normal, d.Lead(d.C)...), 1e-2)
		}},
		{Name: "RMSNorm of groups", Empty: true, Build: func(d *Builder) *op.Node {
			return d.RMSNorm(d.Param("x", Normal, d.Rows(3*d.C)...), d.Param("gamma", Normal, d.Lead(d.C)...), 1e-2)
		}},
		of("LogSumExp", Wide(3), (*op.Graph).LogSumExp), of("Softmax", Wide(2), (*op.Graph).Softmax),
	}
}

func recurrent() []Case {
	return []Case{{Name: "GatedUpdate", Empty: true, Build: func(d *Builder) *op.Node {
		return d.GatedUpdate(d.Param("y", Wide(2), d.Rows(3*d.C)...), d.Param("h", Normal, d.Rows(d.C)...))
	}}, {Name: "step of a recurrent state in blocks", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
		// wide enough for a layer that reads its two inputs separately
		const blocks, shared = 4, 33
		each := d.C + 31
		h := d.SplitColumns(d.Param("h", Normal, d.B, blocks*each), blocks)
		x := d.Concat(h, d.Members(d.Param("x", Normal, d.B, shared), blocks))
		y := d.JoinMembers(d.Linear(x, d.Param("w", Wide(0.2), blocks, each+shared, 5), d.Param("b", Normal, blocks, 5)))
		gates := d.Linear(d.SplitColumns(d.SiLU(y), blocks), d.Param("v", Normal, blocks, 5, 3*each), d.Param("c", Normal, blocks, 3*each))
		return d.JoinMembers(d.GatedUpdate(gates, h))
	}}, {Name: "blocks of images", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
		// of two places, which nothing reads or writes in place
		const blocks, shared = 4, 33
		each := 2 * (d.C + 15)
		h := d.SplitColumns(d.Param("h", Normal, d.B, blocks*each), blocks)
		x := d.Concat(h, d.Members(d.Param("x", Normal, d.B, shared), blocks))
		y := d.JoinPlaces(d.Linear(x, d.Param("w", Wide(0.2), blocks, each+shared, 6), d.Param("b", Normal, blocks, 6)), 2)
		gates := d.Linear(d.SplitColumns(d.SiLU(y), blocks), d.Param("v", Normal, blocks, 6, 3*each), d.Param("c", Normal, blocks, 3*each))
		return d.JoinPlaces(d.GatedUpdate(gates, h), 2)
	}}}
}

// groups are distributions over a few classes side by side.
func groups() (all []Case) {
	for _, classes := range []int{2, 3, 4, 9} {
		all = append(all,
			Case{Name: fmt.Sprintf("GroupSoftmax of %d", classes), Empty: true, Build: func(d *Builder) *op.Node {
				return d.GroupSoftmax(d.Param("x", Wide(2), d.Rows(classes*d.C)...), classes, 0.01)
			}},
			// The probabilities of these groups add up to less than u, or to more than 1, now and then.
			Case{Name: fmt.Sprintf("GroupSample of %d", classes), Empty: true, Build: func(d *Builder) *op.Node {
				p := d.Given("p", func(z float64) float64 { return 3 * max(0, Unit(z)-0.3) / float64(classes) }, d.Rows(classes*d.C)...)
				return d.GroupSample(p, d.Given("u", Unit, d.Rows(d.C)...), classes)
			}})
	}
	return all
}

func rows() []Case {
	return []Case{
		{Name: "Gather", Empty: true, Build: func(d *Builder) *op.Node {
			return d.Gather(d.Param("table", Normal, 4, d.C), d.Given("index", Below(4), d.Rows(1)...))
		}},
		{Name: "Gather by members", Empty: true, Build: func(d *Builder) *op.Node {
			return d.Gather(d.Param("table", Normal, d.Lead(4, d.C)...), d.Given("index", Below(4), d.Rows(1)...))
		}},
		{Name: "FromBytes", Flat: true, Empty: true, Build: func(d *Builder) *op.Node {
			return d.FromBytes(d.Given("words", Wide(3), d.B, op.Words(d.C)), d.C, -0.5)
		}},
		{Name: "Fourier", Empty: true, Build: func(d *Builder) *op.Node {
			return d.Fourier(d.Given("t", Normal, d.Rows(1)...), d.Given("w", Wide(1), d.C))
		}},
		{Name: "EDMNoised", Empty: true, Build: func(d *Builder) *op.Node {
			return d.EDMNoised(d.Given("x", Normal, d.Rows(d.C)...), d.Given("n", Wide(1), d.Rows(d.C)...), d.Given("z", Wide(1), d.Rows(1)...), d.Given("spread", Positive, d.C), -1.2, 1.2)
		}},
	}
}
