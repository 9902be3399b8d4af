package replica

import (
	"fmt"
	"slices"

	"pgrlab/core/inspect"
	"pgrlab/core/relevance"
)

// Owed is how many units of work the models of F of that name have to do before the next scoring:
// updates that they missed while another F was chosen, up to a limit, or their parts, and then
// transitions to count and to measure, of which the members of the cohort have at most rows. Warm does
// this work.
func (o *Functions) Owed(name string, rows int) int {
	units := o.passes(name) * rows
	for _, need := range relevance.Needs(name) {
		units += o.missed(need)
	}
	return units
}

// missed is how many updates, or their parts, the model of that name is behind.
func (o *Functions) missed(name string) int {
	if !slices.Contains(trainedModels, name) {
		return 0
	}
	return min(o.of.stateOf(name).Missed, o.of.Config.Relevance.Pace(name).Warmup) * o.parts(name)
}

// forget drops what the models of F of that name missed beyond what they owe.
func (o *Functions) forget(name string) {
	for _, need := range relevance.Needs(name) {
		if slices.Contains(trainedModels, need) {
			o.of.stateOf(need).Missed = o.missed(need) / o.parts(need)
		}
	}
}

// passes is how many times F of that name observes all real transitions before it scores them.
func (o *Functions) passes(name string) (n int) {
	for _, need := range relevance.Needs(name) {
		n += o.passesOf(need)
	}
	return n
}

// passesOf is passes for one function that another needs.
func (o *Functions) passesOf(name string) int {
	m := o.built[name]
	switch s, _ := relevance.Find(name); {
	case s.Learning == relevance.LearnsFromScratch:
		return 1
	case m != nil && m.Whole != nil:
		return m.Whole.Passes()
	}
	return 0
}

// Warm does some of the units that the models of F of that name owe, from done on, and returns how
// many. If scoring is given up before all are done, the models still owe the rest. Of rows transitions,
// which are those of the member that has the most, it observes its own.
func (o *Functions) Warm(name string, done, owed, rows int) (n int, err error) {
	updates := owed - o.passes(name)*rows
	if done < updates {
		return o.warmModels(name, updates-done)
	}
	done -= updates
	for _, need := range relevance.Needs(name) {
		n := o.passesOf(need)
		if done < n*rows {
			return o.observe(need, done/rows, done%rows, rows)
		}
		done -= n * rows
	}
	return 0, fmt.Errorf("relevance %s is warmed up beyond what it owes", name)
}

// modelUpdates is how many updates a slice of a trained model's warm-up makes. A
// model that sees makes one, because an update on frames may be 13 GFLOP, or a part of one.
const modelUpdates = 4

// warmModels makes updates of the models that F of that name is computed from, one model after the
// other; left is how many are owed.
func (o *Functions) warmModels(name string, left int) (n int, err error) {
	r := o.of
	all := 0
	for _, need := range relevance.Needs(name) {
		all += o.missed(need)
	}
	for _, need := range relevance.Needs(name) {
		owed := o.missed(need)
		if owed == 0 {
			continue
		}
		m := o.built[need]
		if m == nil {
			return 0, fmt.Errorf("train %s: it has no model", need)
		}
		if o.parts(need) > 1 {
			return 1, o.warmPart(need, all-left, owed) // a count of missed updates has those under way
		}
		if n = min(modelUpdates, owed); m.Sees {
			n = 1
		}
		for range n {
			if err := o.Update(need); err != nil {
				return 0, err
			}
		}
		r.stateOf(need).Missed = owed - n
		return n, nil
	}
	return 0, fmt.Errorf("relevance %s owes %d updates, and its models none", name, left)
}

// observe shows a function that counts or measures some real transitions, from the done oldest ones on.
// Its own may be fewer than rows.
func (o *Functions) observe(name string, pass, done, rows int) (n int, err error) {
	r := o.of
	m := o.built[name]
	if m == nil {
		return 0, fmt.Errorf("train %s: it has no model", name)
	}
	own := r.Real.Len()
	n = min(m.AtOnce(inspect.ScoreRows), rows-done)
	mine := min(n, own-done)
	if done == 0 {
		if m.Whole != nil {
			m.Whole.BeginPass(pass)
		}
		r.Real.Gather(r.scratch, 0, r.Real.Spread(inspect.ScoreRows))
		if err := o.begin(m, min(inspect.ScoreRows, own)); err != nil {
			return 0, err
		}
		r.Counting = name
	}
	if mine <= 0 {
		return n, nil
	}
	r.Real.Gather(r.scratch, 0, r.Real.Oldest(done, mine))
	if m.Whole == nil {
		err = m.Counts.Observe(r.scratch, mine)
	} else {
		err = m.Whole.Observe(pass, r.scratch, mine)
	}
	if done+mine < own || err != nil {
		return n, err
	}
	if m.Whole != nil {
		m.Whole.EndPass(pass)
	}
	if m.Whole == nil || pass == m.Whole.Passes()-1 {
		r.Counting = ""
	}
	return n, nil
}

// begin shows a function that is about to observe transitions a sample of them.
func (o *Functions) begin(m *relevance.Model, rows int) error {
	r := o.of
	if m.Whole == nil {
		m.Counts.Begin(r.scratch, rows)
		return nil
	}
	if m.Begin == nil {
		return nil
	}
	some := r.Real.Spread(min(rows, m.AtOnce(inspect.ScoreRows)))
	r.Real.Gather(r.scratch, 0, some)
	return m.Begin(r.scratch, len(some))
}
