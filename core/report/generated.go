package report

import (
	"bufio"
	"fmt"
	"strings"
)

// generatedMeasures are what a journal says of each new D_syn, by the names of the
// columns. See lab.Generated and lab.Dynamics.
var generatedMeasures = []struct{ Name, series string }{
	{"error of s'", "generated/dynamics/relative"},
	{"of relevant rows", "generated/dynamics/relevant"},
	{"of s' − s", "generated/dynamics/change"},
	{"of r", "generated/dynamics/reward_relative"},
	{"coverage", "generated/coverage"},
	{"copies", "generated/copies"},
}

// Measured is a measure of the generations of a row: by seed, the mean over all that
// were made until the step of the report. Seeds without one are left out.
type Measured struct {
	Name string `json:"name"`
	N    int    `json:"n"` // seeds
	Spread
}

// generations takes the measures of a row; nil where nothing was generated.
func (r *Row) generations(step int) (all []Measured) {
	found := false
	for _, kind := range generatedMeasures {
		m := Measured{Name: kind.Name}
		for _, s := range r.cell.Seeds {
			if mean, ok := s.Series(kind.series).meanUntil(step); ok {
				m.Points = append(m.Points, mean)
			}
		}
		m.N, m.Spread = len(m.Points), m.Spread.summarised()
		found = found || m.N > 0
		all = append(all, m)
	}
	if !found {
		return nil
	}
	return all
}

// meanUntil is the mean of the points at or before a step; false where there is none.
func (s Series) meanUntil(step int) (mean float64, ok bool) {
	n := 0
	for _, p := range s {
		if p.Step <= step {
			mean += p.Value
			n++
		}
	}
	return mean / float64(n), n > 0
}

// generated writes what the generators of the rows made; nothing where none did.
func (t *Task) generated(b *bufio.Writer) {
	var lines []string
	for _, r := range t.Rows {
		if r.Generated == nil {
			continue
		}
		cells := []string{r.Label}
		for _, m := range r.Generated {
			cells = append(cells, m.text(m.N))
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprint(b, "\nD_syn, the mean over its generations. Errors of s' are in units of the variance of real next states, those of s' − s and of r in units of theirs: the best constant guess scores 1 on rows like the real ones. Relevant rows: true F in the upper quarter of the real ones. Coverage: real rows with a synthetic one nearby that is no copy; as many real ones would cover 0.97.\n\n|")
	for _, kind := range generatedMeasures {
		fmt.Fprintf(b, " | %s", kind.Name)
	}
	fmt.Fprintf(b, " |\n|%s\n%s\n", strings.Repeat(" --- |", len(generatedMeasures)+1), strings.Join(lines, "\n"))
}
