package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"pgrlab/core/printable"
)

// alike says whether all rows have the same variant, which then stands once below the table.
func (r *Report) alike() bool {
	for _, t := range r.Tasks {
		if slices.ContainsFunc(t.Rows, func(row *Row) bool { return row.Variant != r.Tasks[0].Rows[0].Variant }) {
			return false
		}
	}
	return true
}

// Summary writes the returns as a table for a terminal, with a line for each row: the
// number of its seeds, their returns and, with enough seeds for it, the interval of the
// statistic by which rows are compared. If some rows are of pixels, the step is also given in frames. Below the table
// stands what long variants are, or the one that all rows have, which seeds failed, and what was left out.
func (r *Report) Summary(w io.Writer) error {
	table := [][]string{{"TASK", "METHOD", "STEP", "FRAME", "N", "RETURN", "95 %"}}
	few, wide := false, true
	for _, t := range r.Tasks {
		for _, row := range t.Rows {
			label := row.name
			if r.alike() {
				label = strings.Replace(row.Label, ", "+row.Variant, "", 1)
			}
			if row.N == 0 {
				table = append(table, []string{t.Task, label, Count(t.Step), row.frame(t.Step), row.of(), "–", "–"})
				continue
			}
			returned, _, _ := strings.Cut(row.returned(), " (n=")
			interval := "–"
			_, in, enough := row.centre()
			if enough {
				interval = fmt.Sprintf("%s to %s", value(in.Low), value(in.High))
			}
			few, wide = few || cmp.Or(row.ForksOf, row.N) < t.Statistic.takes(), wide && !row.narrow()
			table = append(table, []string{t.Task, label, Count(t.Step), row.frame(t.Step), row.of(), returned, interval})
		}
	}
	if !r.sees() {
		for i, line := range table {
			table[i] = slices.Delete(line, 3, 4)
		}
	}
	if err := columns(w, table); err != nil {
		return err
	}
	out := printable.NewWriter(w)
	if few {
		if _, err := fmt.Fprintf(out, "Of fewer than %d seeds these are the single returns, without an interval.\n", r.Tasks[0].Statistic.takes()); err != nil {
			return err
		}
	}
	if !wide {
		if _, err := fmt.Fprintln(out, narrowInShort); err != nil {
			return err
		}
	}
	if err := r.forksLines(out); err != nil {
		return err
	}
	return r.footnotes(out)
}

// sees says whether some rows are of learners that see frames.
func (r *Report) sees() bool {
	return slices.ContainsFunc(r.Tasks, func(t *Task) bool {
		return slices.ContainsFunc(t.Rows, func(row *Row) bool { return row.Frames > 0 })
	})
}

// frame is a step in frames, "–" for a learner that sees none.
func (r *Row) frame(step int) string {
	if r.Frames == 0 {
		return "–"
	}
	return Count(step * r.Frames)
}

// columns writes lines of equally many cells below each other.
func columns(w io.Writer, table [][]string) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range table {
		for i, text := range line {
			line[i] = printable.Line(text)
		}
		fmt.Fprintln(out, strings.Join(line, "\t"))
	}
	return out.Flush()
}

// footnotes writes what long variants are, or the one that all rows have, which seeds failed, and what
// was left out.
func (r *Report) footnotes(out io.Writer) error {
	var text strings.Builder
	if common := r.Tasks[0].Rows[0].Variant; r.alike() && common != "" {
		fmt.Fprintln(&text, "All rows:", common)
	} else {
		r.longVariants(&text)
	}
	for _, t := range r.Tasks {
		for _, said := range t.apart() {
			fmt.Fprintln(&text, said)
		}
		for _, row := range t.Rows {
			for _, said := range t.failures(row) {
				fmt.Fprintln(&text, said)
			}
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintln(&text, "left out:", n)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// longVariants writes what each long variant is.
func (r *Report) longVariants(text *strings.Builder) {
	said := map[string]bool{}
	for _, t := range r.Tasks {
		for _, v := range t.variants {
			if !said[v] {
				said[v] = true
				fmt.Fprintln(text, v)
			}
		}
	}
}
