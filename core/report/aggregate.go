package report

import (
	"fmt"
	"slices"
)

// Aggregate compares methods over several tasks, on returns divided by full marks.
type Aggregate struct {
	Tasks []string `json:"tasks"` // the tasks on which all rows were run
	Rows  []*Whole `json:"rows"`

	Without []string `json:"without,omitempty"` // rows of which no seed has a score on a task, since all failed
	Apart   []string `json:"apart,omitempty"`   // rows that are of one build each, and not on all tasks
}

// Whole holds the numbers of a method over several tasks.
type Whole struct {
	Label  string    `json:"label"`
	N      []int     `json:"n"`      // seeds by task
	Failed []int     `json:"failed"` // further seeds by task, which have no score because they failed
	Mean   *float64  `json:"mean,omitempty"`
	IQM    *float64  `json:"iqm,omitempty"`
	IQMIn  *Interval `json:"iqm_interval,omitempty"`
	MeanIn *Interval `json:"mean_interval,omitempty"` // if rows are compared by means

	strata [][]float64
}

// aggregate compares the clean rows that were run on more than one task with full
// marks, over the tasks on which all of them were run; nil if there are fewer than
// two such tasks.
func (r *Report) aggregate(o Options) *Aggregate {
	type place struct {
		task string
		row  *Row
	}
	a := &Aggregate{}
	byLabel := map[string][]place{}
	var labels []string
	for _, t := range r.Tasks {
		for _, row := range t.Rows {
			if row.Touched != "" || row.ForksOf > 0 || o.Full[t.Task] == 0 {
				continue
			}
			label := row.cell.Label() + " · " + row.Scale
			if row.N == 0 {
				if len(row.Failed) > 0 {
					a.Without = append(a.Without, fmt.Sprintf("%s on %s (%d failed)", label, t.Task, len(row.Failed)))
				}
				continue
			}
			if byLabel[label] == nil {
				labels = append(labels, label)
			}
			byLabel[label] = append(byLabel[label], place{t.Task, row})
		}
	}
	labels = slices.DeleteFunc(labels, func(l string) bool { return len(byLabel[l]) < 2 })
	for _, t := range r.Tasks {
		on := func(p place) bool { return p.task == t.Task }
		if len(labels) > 0 && !slices.ContainsFunc(labels, func(l string) bool { return !slices.ContainsFunc(byLabel[l], on) }) {
			a.Tasks = append(a.Tasks, t.Task)
		}
	}
	if len(a.Tasks) < 2 {
		return nil
	}
	for _, t := range r.Tasks {
		for _, row := range t.Rows {
			if label := row.cell.Label() + " · " + row.Scale; row.cell.Apart != "" && len(byLabel[label]) > 0 && !slices.Contains(labels, label) {
				a.Apart = append(a.Apart, fmt.Sprintf("%s on %s", label, t.Task))
			}
		}
	}
	for _, label := range labels {
		w := &Whole{Label: label}
		for _, p := range byLabel[label] {
			if slices.Contains(a.Tasks, p.task) {
				w.add(p.row, o.Full[p.task])
			}
		}
		if w.summarise(o.Statistic); flat(w.strata...) {
			w.MeanIn, w.IQMIn = nil, nil
		}
		a.Rows = append(a.Rows, w)
	}
	return a
}

func (w *Whole) add(r *Row, full float64) {
	scores := make([]float64, len(r.Points))
	for i, v := range r.Points {
		scores[i] = v / full
	}
	w.N, w.Failed = append(w.N, r.N), append(w.Failed, len(r.Failed))
	w.strata = append(w.strata, scores)
}

// summarise computes the mean over the tasks and the interquartile mean, with the interval of the one by which
// rows are compared, if there are enough seeds.
func (w *Whole) summarise(by Statistic) {
	tasks := float64(len(w.strata))
	if by == OfMeans && slices.Min(w.N) >= by.takes() {
		mean, of := 0.0, []Estimate(nil)
		for _, s := range w.strata {
			e := estimate(s)
			mean, of = mean+Mean(s)/tasks, append(of, Estimate{e.Err / tasks, e.N})
		}
		half := Margin(of...)
		w.Mean, w.MeanIn = &mean, &Interval{mean - half, mean + half}
		return
	}
	if by == OfMeans || slices.Min(w.N) < MinSeeds {
		return
	}
	mean := 0.0
	for _, s := range w.strata {
		mean += Mean(s) / tasks
	}
	var of interquartile
	iqm := func(strata [][]float64) float64 { return of.of(strata...) }
	in := Bootstrap(bootstrap.Sub("aggregate "+w.Label), w.strata, iqm)
	w.Mean, w.IQM, w.IQMIn = &mean, pointer(iqm(w.strata)), &in
}
