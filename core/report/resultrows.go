package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"maps"
	"math"
	"slices"
	"strconv"
)

// formatResults formats results that a file held and those that are added to it, of one seed each.
func formatResults(there, added []*Run) []byte {
	runs := slices.Concat(there, added)
	slices.SortStableFunc(runs, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Scale, b.Scale), cmp.Compare(a.Variant, b.Variant),
			cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Length(), b.Length()), cmp.Compare(a.Seed, b.Seed),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Devices(), b.Devices()))
	})
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	quantities := quantitiesOf(there, added)
	further := []string{framesColumn}
	if slices.ContainsFunc(runs, func(r *Run) bool { return r.Failed != "" }) {
		further = append(further, failedColumn)
	}
	w.Write(slices.Concat(resultColumns, quantities, further))
	for _, r := range runs {
		w.WriteAll(r.resultRows(quantities, further))
	}
	w.Flush()
	return text.Bytes()
}

// resultRows returns the rows of a run of one seed, with these quantities and further columns.
func (r *Run) resultRows(quantities, further []string) [][]string {
	series := r.Members[0].Series
	walls := map[int]float64{} // wall time by step at which something was measured
	cells := make([]map[int]string, len(quantities))
	for i, name := range quantities {
		cells[i] = map[int]string{}
		for _, p := range series[name] {
			walls[p.Step] = max(walls[p.Step], p.WallS)
			if name == Return || !math.IsNaN(p.Value) { // see Seed.Series
				cells[i][p.Step] = significant(p.Value)
			}
		}
	}
	if r.Failed != "" {
		walls[r.Step] = max(walls[r.Step], r.WallS)
	}
	var rows [][]string
	for _, step := range slices.Sorted(maps.Keys(walls)) {
		row := []string{
			r.Task, r.Method, r.Scale, r.Variant, r.Fingerprint, strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Length()), r.Devices(), r.Version,
			strconv.Itoa(step), strconv.FormatFloat(walls[step], 'f', 1, 64),
		}
		for i := range quantities {
			row = append(row, cells[i][step])
		}
		for _, name := range further {
			text := ""
			switch {
			case name == framesColumn && r.Frames > 0:
				text = strconv.Itoa(step * r.Frames)
			case name == failedColumn && r.Failed != "" && step == r.Step:
				text = r.failedText()
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// failedText is why a run failed, as a results file says it.
func (r *Run) failedText() string {
	if r.Diverged {
		return divergedMark + r.Failed
	}
	return r.Failed
}

// significant is a number as results files have it.
func significant(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
