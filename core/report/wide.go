package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"pgrlab/core/run"
)

// wideRow is a row of a wide table.
type wideRow struct {
	step   int
	at     time.Time // of its first line
	values map[string]float64
}

// wide collects the rows of a wide table. A step has one, and another one for what is measured in it
// again, as the episodes of several copies of an environment are.
func (r *Run) wide() (rows []*wideRow, quantities []string, err error) {
	begun := r.Began().UTC()
	newest, known := map[int]*wideRow{}, map[string]bool{}
	err = Lines(r.Dir, func(e run.Entry, values []Scalar) error {
		if len(r.Members) > 1 {
			values = OfMember(values, e.Member)
		}
		row := newest[e.Step]
		if row == nil || slices.ContainsFunc(values, func(v Scalar) bool { _, twice := row.values[v.Name]; return twice }) {
			row = &wideRow{step: e.Step, at: begun.Add(time.Duration(e.WallS * float64(time.Second))), values: map[string]float64{}}
			rows, newest[e.Step] = append(rows, row), row
		}
		for _, v := range values {
			if row.values[v.Name] = v.Value; !known[v.Name] {
				known[v.Name], quantities = true, append(quantities, v.Name)
			}
		}
		return nil
	})
	slices.SortStableFunc(rows, func(a, b *wideRow) int { return a.step - b.step })
	slices.Sort(quantities)
	return rows, quantities, err
}

// WideCSV writes all measurements in a run's journal as a table with a column for each quantity, after step
// and timestamp (UTC, as Python's datetime.isoformat writes it). What was not measured is empty. Members of
// a cohort have columns of their own.
func (r *Run) WideCSV(w io.Writer) error {
	rows, quantities, err := r.wide()
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.Write(append([]string{"step", "timestamp"}, quantities...))
	for _, row := range rows {
		line := []string{strconv.Itoa(row.step), row.at.Format("2006-01-02T15:04:05.000-07:00")}
		for _, name := range quantities {
			text := ""
			if v, measured := row.values[name]; measured {
				text = strconv.FormatFloat(v, 'g', -1, 64)
			}
			line = append(line, text)
		}
		out.Write(line)
	}
	out.Flush() // csv.Writer remembers its first error
	return out.Error()
}
