package report

import (
	"bufio"
	"fmt"
	"strings"
)

// measure is a quantity of the journal of which a report shows the mean over a run.
type measure struct{ Name, series string }

// measures are the measures of one table. text is printed above the table. A row without any of
// the needed measures is left out.
type measures struct {
	text   string
	all    []measure
	needed int // how many measures are needed, from the first on; 0: all
}

// generatedMeasures are the measures of each new D_syn. See event.Generated and event.Dynamics.
var generatedMeasures = measures{
	"D_syn, the mean over its generations. Errors of s' are in units of the variance of real next states, those of s' − s and of r in units of theirs: the best constant guess scores 1 on rows like the real ones. Relevant rows: true F in the upper quarter of the real ones. Coverage: real rows with a synthetic one nearby that is no copy; as many real ones would cover 0.97. Rewarded: the share of rows with a reward, where rewards are rare events.",
	[]measure{
		{"error of s'", "generated/dynamics/relative"},
		{"of relevant rows", "generated/dynamics/relevant"},
		{"of s' − s", "generated/dynamics/change"},
		{"of r", "generated/dynamics/reward_relative"},
		{"coverage", "generated/coverage"},
		{"copies", "generated/copies"},
		{"rewarded", "generated/rewarded"},
		{"of real rows", "generated/rewarded_real"},
	},
	0,
}

// exploredMeasures are the measures of episodes in mazes and of the exploration bonus.
var exploredMeasures = measures{
	"In mazes, the mean over the evaluations: goals reached and cells entered in an episode, displacement over that at top speed, and the share of actions that look to a side or fire (3 of 9 where all are as likely). Bonus of a training step as the learner gets it, entries of an episode's memory, their P90, and accuracy of the R-network on pairs that it was not taught: the mean over the run.",
	[]measure{
		{"goals", "evaluated/explored/goals"},
		{"cells", "evaluated/explored/cells"},
		{"moved", "evaluated/explored/moved"},
		{"on the spot", "evaluated/explored/on_spot"},
		{"bonus", "losses/bonus"},
		{"memory", "losses/episodes/entries"},
		{"P90", "losses/episodes/p90"},
		{"R-network", "losses/episodes/accuracy"},
	},
	4, // the rest measure the bonus, which exists without mazes too
}

// Measured is a quantity of a row: for each seed, the mean of its values until the step of
// the report. Seeds without values, or without a score, are left out.
type Measured struct {
	Name string `json:"name"`
	N    int    `json:"n"` // seeds
	Spread
}

// measured computes the measures of a row; nil if it has none of the needed ones.
func (r *Row) measured(kinds measures, step int) (all []Measured) {
	found := false
	for i, kind := range kinds.all {
		m := Measured{Name: kind.Name}
		for _, s := range r.counted {
			if mean, ok := s.Series(kind.series).meanUntil(step); ok {
				m.add(mean)
			}
		}
		m.N, m.Spread = len(m.Points), r.summarised(m.Spread)
		found = found || m.N+m.Diverged > 0 && (kinds.needed == 0 || i < kinds.needed)
		all = append(all, m)
	}
	if !found {
		return nil
	}
	return all
}

// meanUntil returns the mean of the points at or before a step; false if there is none.
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

// measured writes a table of the measures of the rows. of returns the measures of a row. If no row
// has measures, nothing is written.
func (t *Task) measured(b *bufio.Writer, kinds measures, of func(*Row) []Measured) {
	var lines []string
	for _, r := range t.Rows {
		all := of(r)
		if all == nil {
			continue
		}
		cells := []string{r.name}
		for _, m := range all {
			cells = append(cells, m.text())
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n|", kinds.text)
	for _, kind := range kinds.all {
		fmt.Fprintf(b, " | %s", kind.Name)
	}
	fmt.Fprintf(b, " |\n|%s\n%s\n", strings.Repeat(" --- |", len(kinds.all)+1), strings.Join(lines, "\n"))
}
