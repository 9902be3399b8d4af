package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/printable"
)

// Markdown writes the report for people. Every number comes with its number of seeds.
func (r *Report) Markdown(w io.Writer) error {
	b := bufio.NewWriter(printable.NewWriter(w))
	for i, t := range r.Tasks {
		if i > 0 {
			fmt.Fprintln(b)
		}
		t.markdown(b)
	}
	r.permutations(b)
	r.forksSection(b)
	r.Aggregate.markdown(b)
	r.runs(b)
	if len(r.Notes) > 0 {
		fmt.Fprint(b, "\n## Left out\n\n")
		for _, n := range r.Notes {
			fmt.Fprintf(b, "- %s\n", n)
		}
	}
	return b.Flush()
}

func (t *Task) markdown(b *bufio.Writer) {
	fmt.Fprintf(b, "# %s at step %s\n\n", t.Task, Count(t.Step))
	head := []string{"", "scale", "return", string(t.Statistic), "area under the curve", "steps to " + value(t.Threshold), "paper", "independent"}
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, r := range t.Rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join([]string{
			r.name, r.Scale, r.returned(), r.centred(), r.Area.text(), r.reached(), reports(r.Reported, false), reports(r.Reported, true),
		}, " | "))
	}
	for _, v := range t.variants {
		fmt.Fprintf(b, "\n%s.\n", v)
	}
	t.failedSeeds(b)
	t.aboutRows(b)
	t.explanation(b)
	if t.Shared > 0 && t.Shared < t.Step {
		fmt.Fprintf(b, "\nSome of these runs are forks, and up to step %s they are one run with another: the area under the curve begins there.\n", Count(t.Shared))
	}
	t.remarks(b)
	t.measured(b, generatedMeasures, func(r *Row) []Measured { return r.Generated })
	t.measured(b, exploredMeasures, func(r *Row) []Measured { return r.Explored })
	t.matrix(b)
	t.differences(b)
}

// aboutRows writes what is to be known of single rows.
func (t *Task) aboutRows(b *bufio.Writer) {
	for _, text := range t.apart() {
		fmt.Fprintf(b, "\n%s.\n", text)
	}
	for _, r := range t.Rows {
		if r.Frames > 0 {
			fmt.Fprintf(b, "\n%s sees pixels: an env step is %d %s of the task, step %s is frame %s.\n", r.name, r.Frames, plural(r.Frames, "frame"), Count(t.Step), Count(t.Step*r.Frames))
		}
		if r.Touched != "" {
			fmt.Fprintf(b, "\n%s was changed by hand while it ran, and is not to be compared with clean rows as if it were one of them: `%s`\n", r.name, r.Touched)
		}
		if r.ForksOf > 0 {
			fmt.Fprintf(b, "\n%s: forks of one run count as one seed: each stands by itself, and the row is compared with no other in these tables.\n", r.name)
		}
		if n := len(r.Changed); n > 0 {
			fmt.Fprintf(b, "\n%s: numbers of %d %s may have been changed afterwards, see below.\n", r.name, n, plural(n, "run"))
		}
		if r.Missing > 0 {
			fmt.Fprintf(b, "\n%s: %d more %s did not get to step %s.\n", r.name, r.Missing, plural(r.Missing, "seed"), Count(t.Step))
		}
		if r.Unscored > 0 {
			when := "by step " + Count(t.Step)
			if t.ScoreFrom > 0 {
				when = fmt.Sprintf("from step %s to %s", Count(t.ScoreFrom), Count(t.Step))
			}
			fmt.Fprintf(b, "\n%s: %d more %s got there, but without an evaluation %s.\n", r.name, r.Unscored, plural(r.Unscored, "seed"), when)
		}
	}
}

// explanation writes what the numbers of the table are.
func (t *Task) explanation(b *bufio.Writer) {
	at := "Every seed counts with its evaluation at that step."
	switch {
	case t.ScoreFrom > 0:
		at = fmt.Sprintf("Every seed counts with the mean of its evaluations from step %s to %s.", Count(t.ScoreFrom), Count(t.Step))
	case !t.StepExact:
		at = "Every seed counts with its last evaluation at or before that step; not all were evaluated there."
	}
	fmt.Fprintf(b, "\n%s n is the number of seeds. With %d or more: mean ± standard deviation over seeds (n − 1); with fewer: the single seeds. The %s has %s, from %d seeds on, if their returns differ. %s.\n",
		at, MinSeeds, t.Statistic, t.Statistic.ofRow(), t.Statistic.takes(), t.areaText())
	if slices.ContainsFunc(t.Rows, (*Row).narrow) {
		fmt.Fprintf(b, "\n%s\n", narrow)
	}
	threshold := "as asked for"
	switch {
	case !t.anyScore():
		return
	case t.ThresholdOf != "" && t.Threshold > 0:
		threshold = fmt.Sprintf("about half of the best mean return at that step, that of %s", t.ThresholdOf)
	case t.ThresholdOf != "":
		threshold = fmt.Sprintf("about half way from the first evaluation to the best mean return at that step, that of %s", t.ThresholdOf)
	}
	fmt.Fprintf(b, "\nSteps are counted to the first evaluation with a return of %s or more, %s.\n", value(t.Threshold), threshold)
}

// anyScore says whether a seed has a score.
func (t *Task) anyScore() bool {
	return slices.ContainsFunc(t.Rows, func(r *Row) bool { return r.N > 0 })
}

// remarks writes what is to be known of the results of others in the table, each remark once.
func (t *Task) remarks(b *bufio.Writer) {
	said := map[string]bool{"": true}
	for _, r := range t.Rows {
		for _, p := range r.Reported {
			if !said[p.Note] {
				said[p.Note] = true
				fmt.Fprintf(b, "\n%s: %s.\n", p.Source, p.Note)
			}
		}
	}
}

func (r *Row) returned() string {
	return Spread{Points: r.Points, Mean: r.Mean, Std: r.Std}.with("n=" + r.of())
}

// areaText says what the area under the curve is.
func (t *Task) areaText() string {
	if t.From >= t.Step {
		return "There is no area under the curve: not all were evaluated before that step"
	}
	return fmt.Sprintf("The area under the curve is the mean height from step %s to %s", Count(t.From), Count(t.Step))
}

// text is "412.0 ± 31.2 (n=5)", or "41.6, 50.1 (n=2, and 1 diverged)".
func (s Spread) text() string {
	n := fmt.Sprintf("n=%d", len(s.Points))
	if s.Diverged > 0 {
		n += fmt.Sprintf(", and %d diverged", s.Diverged)
	}
	if len(s.Points)+s.Diverged == 0 {
		return "–"
	}
	return s.with(n)
}

// with is the text with the number of seeds in words of its own.
func (s Spread) with(n string) string {
	if s.Mean != nil {
		return fmt.Sprintf("%s (%s)", around(*s.Mean, *s.Std), n)
	}
	points := []string{}
	for _, v := range s.Points {
		points = append(points, value(v))
	}
	if len(points) == 0 {
		points = []string{"–"}
	}
	return fmt.Sprintf("%s (%s)", strings.Join(points, ", "), n)
}

// narrow says whether the interval of the row's interquartile mean is worth less than it says.
func (r *Row) narrow() bool { return r.IQMIn != nil && r.N < enoughSeeds }

func (r *Row) reached() string {
	n := len(r.Reaches.Points)
	if n == 0 {
		return "–"
	}
	if !r.spreads(n) {
		var points []string
		for _, p := range r.Reaches.Points {
			if p == nil {
				points = append(points, "never")
				continue
			}
			points = append(points, Count(*p))
		}
		return fmt.Sprintf("%s (n=%d)", strings.Join(points, ", "), n)
	}
	if r.Reaches.Median == nil {
		return fmt.Sprintf("reached by %d of n=%d", r.Reaches.N, n)
	}
	return fmt.Sprintf("median %s, reached by %d of n=%d", Count(int(math.Round(*r.Reaches.Median))), r.Reaches.N, n)
}

// reports formats the results of publications.
func reports(all []Reported, independent bool) string {
	var texts []string
	for _, r := range all {
		if r.Independent == independent {
			texts = append(texts, r.text())
		}
	}
	if len(texts) == 0 {
		return "–"
	}
	return strings.Join(texts, "; ")
}

func (r Reported) text() string {
	seeds := "n not said"
	if r.Seeds > 0 {
		seeds = fmt.Sprintf("n=%d", r.Seeds)
	}
	at := Count(r.Steps)
	if r.Frames > 0 {
		at += ", frame " + Count(r.Frames)
	}
	where := ""
	if r.Where != "" {
		where = fmt.Sprintf(", %s: not comparable", r.Where)
	}
	return fmt.Sprintf("%s at %s (%s, %s%s)", around(r.Mean, r.Std), at, seeds, r.Source, where)
}

// matrix writes the probabilities of improvement.
func (t *Task) matrix(b *bufio.Writer) {
	if t.Better == nil {
		return
	}
	fmt.Fprint(b, "\nProbability that a run of the row is better than one of the column:\n")
	t.square(b, func(i int) string { return fmt.Sprint(len(t.Rows[i].ranked())) }, func(i, j int) string {
		switch p := t.Better[i][j]; {
		case p == nil:
			return "–"
		case p.Interval == nil:
			return fmt.Sprintf("%.2f", p.P)
		default:
			return fmt.Sprintf("%.2f [%.2f, %.2f], p %s", p.P, p.Interval.Low, p.Interval.High, probability(*p.Permutation))
		}
	})
	fmt.Fprintf(b, "\nIt takes %d seeds of both, and %d for a 95 %% interval, that of Newcombe (2006) (%s).%s\n", MinPairs, MinSeeds, t.lacking(), unreachable(t.compared(), OfMeans.cut, t.level))
}

func (a *Aggregate) markdown(b *bufio.Writer) {
	if a == nil {
		return
	}
	fmt.Fprintf(b, "\n# Over %d tasks\n\nReturns as shares of full marks over %s; only clean rows that were run on all of them, each at the step said above. The interquartile mean is of all runs together, so that a task with more seeds weighs more; the mean is that of the tasks. Intervals: 95 %%, of an interquartile mean by the bootstrap, stratified by task, of a mean by Welch's and Satterthwaite's degrees of freedom.\n\n| | mean | interquartile mean | n by task |\n| --- | --- | --- | --- |\n",
		len(a.Tasks), strings.Join(a.Tasks, ", "))
	for _, w := range a.Rows {
		var n []string
		for i, k := range w.N {
			text := strconv.Itoa(k)
			if w.Failed[i] > 0 {
				text = fmt.Sprintf("%d of %d", k, k+w.Failed[i])
			}
			n = append(n, text)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", w.Label, share(w.Mean, w.MeanIn), share(w.IQM, w.IQMIn), strings.Join(n, ", "))
	}
	if len(a.Without) > 0 {
		fmt.Fprintf(b, "\nLeft out, since no seed has a score: %s. That flatters these rows.\n", strings.Join(a.Without, ", "))
	}
	if len(a.Apart) > 0 {
		fmt.Fprintf(b, "\nLeft out, since each build has a row of its own and not on all of these tasks: %s.\n", strings.Join(a.Apart, ", "))
	}
}

// share is a share of full marks, with its interval if there is one.
func share(v *float64, in *Interval) string {
	switch {
	case v == nil:
		return "–"
	case in == nil:
		return fmt.Sprintf("%.3f", *v)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *v, in.Low, in.High)
}

// runs lists what the report was made from.
func (r *Report) runs(b *bufio.Writer) {
	var changed, unchecked []string
	fmt.Fprint(b, "\n# Runs\n\n| run | task | method | seed | step | knobs | device | version |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range r.cells {
		for _, s := range c.Seeds {
			state := Count(s.Run.Step)
			switch {
			case s.Run.Failed != "":
				state += ", " + s.failure().verb()
			case !s.Run.Done:
				state += cmp.Or(printable.Line(s.Run.Standing), ", not ended")
			case s.Run.Stopped():
				state += fmt.Sprintf(" of %s, stopped", Count(s.Run.Steps))
			}
			if s.Run.Changed != "" {
				state += ", changed"
				changed = append(changed, fmt.Sprintf("%s: %s", printable.Line(s.Run.Dir), s.Run.Changed))
			} else if s.Run.Unchecked && s.Run.Done && s.Member == 0 {
				unchecked = append(unchecked, printable.Line(s.Run.Dir))
			}
			fmt.Fprintf(b, "| %s | %s | %s | %d | %s | %s | %s | %s |\n",
				printable.Line(s.Run.Dir), c.Task, c.Method, s.Seed, state, s.Run.Badge(), s.Run.Devices(), s.Run.Version)
		}
	}
	for _, text := range changed {
		fmt.Fprintf(b, "\n%s.\n", text)
	}
	if n := len(unchecked); n > 0 {
		fmt.Fprintf(b, "\nOf %d %s the lines after the last checkpoint, among them the last return, are not checked for changes: %s.\n", n, plural(n, "run"), firstOf(unchecked))
	}
}

// firstOf lists the first names of many.
func firstOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// value formats a number of the size of returns: four digits are enough to compare them.
func value(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	case a >= 10 || a == 0:
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// around formats a mean and its deviation with the same number of decimals.
func around(mean, deviation float64) string {
	size := max(math.Abs(mean), math.Abs(deviation))
	digits := 0
	for ; digits < 6 && size < 1000 && size > 0; size *= 10 {
		digits++
	}
	if digits > 2 {
		digits--
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, deviation)
}

// Count formats a count with separated thousands: 10,000.
func Count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}
