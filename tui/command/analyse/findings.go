package analyse

import (
	"fmt"
	"io"
	"text/tabwriter"

	"pgrlab/core/event"
)

// writeFindings writes the findings of an analysis for a reader at a terminal: the numbers of the
// JSON without its histograms and points.
func writeFindings(w io.Writer, e *event.Examined) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	line := func(name, format string, values ...any) {
		fmt.Fprintf(t, "  %s\t"+format+"\n", append([]any{name}, values...)...)
	}
	if h := e.Real; h != nil {
		line("F, "+e.Relevance, "real: %s", quantiles(h))
		if s := e.Synthetic; s != nil {
			line("", "synthetic: %s", quantiles(s))
		}
	}
	if g := e.Generated; g != nil {
		writeGenerated(line, g)
		if d := g.Dynamics; d != nil && e.Gaussian != nil {
			line("dynamics error", "%.3g of the variance of s' (%d rows); a Gaussian fitted to the real rows has %.3g", d.Relative, d.Rows, e.Gaussian.Relative)
		}
	}
	if p := e.Projection; p != nil {
		line("projection", "guided and unguided generations overlap by %.2f in a plane with %.0f %% of the variance (two samples of 1,000 rows of one distribution: 0.8 to 0.9)", p.Overlap, 100*(p.Explained[0]+p.Explained[1]))
	}
	if o := e.OpenLoop; o != nil && len(o.Horizon) > 0 {
		writeOpenLoop(line, o)
	}
	if r := e.ReferenceF; r != nil {
		line("ruler", "%s of step %d on the real rows: %s; rank correlation %.2f, top rows in common %.0f %%", r.Relevance, r.Step, quantiles(r.Real), r.RankCorrelation, 100*r.TopOverlap)
	}
	return t.Flush()
}

func writeGenerated(line func(name, format string, values ...any), g *event.Generated) {
	if g.Asked != nil && g.Achieved != nil && g.RankCorrelation != nil {
		line("asked of D_syn", "median %.3g; achieved %.3g, rank correlation %.2f", g.Asked.Median, g.Achieved.Median, *g.RankCorrelation)
	}
	line("outside the data", "states %.1f %%, actions %.1f %%, rewards %.1f %% of %d synthetic rows", 100*g.OutsideStates, 100*g.OutsideActions, 100*g.OutsideRewards, g.Rows)
	if g.Furthest > 0 {
		line("furthest state", "%.3g deviations of its coordinate outside the real range", g.Furthest)
	}
	line("nearest real row", "%.3g away at the median; real rows from each other %.3g", g.Nearest, g.NearestReal)
	line("coverage", "%.0f %% of the real rows have a synthetic one nearby that is no copy; as many real ones would cover 97 %%; copies %.1f %%", 100*g.Coverage, 100*g.Copies)
	if g.RewardedReal != nil && g.Rewarded != nil {
		line("with a reward", "%.3g %% of all synthetic rows, %.3g %% of real ones", 100**g.Rewarded, 100**g.RewardedReal)
	}
	if d := g.Dynamics; d != nil {
		writeLabels(line, d)
	}
	if g.Terminal > 0 || g.TerminalReal > 0 {
		line("true ends", "%.2f %% of synthetic rows, %.2f %% of real ones", 100*g.Terminal, 100*g.TerminalReal)
	}
}

// writeLabels compares the labels of D_syn with the best constant.
func writeLabels(line func(name, format string, values ...any), d *event.Dynamics) {
	line("change s' - s", "error %.3g of its variance; the best constant change has %.3g", d.Change, d.ConstantChange)
	line("reward", "error %.3g of its variance; the best constant has %.3g", d.RewardRelative, d.ConstantReward)
	if d.Relevant != nil {
		line("relevant rows", "dynamics error %.3g of the variance of s' (%d rows whose true F is in the upper quarter)", *d.Relevant, d.RelevantOf)
	}
	found := func(what string, f *event.Detection) {
		if f != nil {
			line(what, "%d true, %d predicted; precision %.2f, recall %.2f", f.True, f.Predicted, f.Precision, f.Recall)
		}
	}
	found("rare rewards", d.RareRewards)
	found("ends", d.Ends)
}

// writeOpenLoop compares the predictions of a model of the world with the last observation that it saw.
func writeOpenLoop(line func(name, format string, values ...any), o *event.OpenLoop) {
	last := len(o.Horizon) - 1
	line("open loop", "error %.3g deviations of the observation after a step without it, %.3g after %d; the last observation held has %.3g and %.3g", o.Error[0], o.Error[last], o.Horizon[last], o.Held[0], o.Held[last])
	if o.Reward != nil {
		line("", "of the reward %.3g and %.3g; a constant has 1", o.Reward[0], o.Reward[last])
	}
}

func quantiles(h *event.Histogram) string {
	return fmt.Sprintf("median %.3g, 10 to 90 %% of %d rows %.3g to %.3g", h.Median, h.Rows, h.Q10, h.Q90)
}
