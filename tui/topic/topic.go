// Package topic names the things that change while a screen is open, and counts how often they have
// changed, so that a pane is redrawn only when something that it shows has changed.
package topic

// Topic is something that changes while a screen is open. A pane is redrawn when one of its topics
// has changed.
type Topic string

// The topics that several panes share. In addition every pane has a topic of its own, named by its
// ID, for what its keys change.
const (
	Snapshot    Topic = "snapshot"    // the newest numbers of the run
	Lines       Topic = "lines"       // the list of events
	Curves      Topic = "curves"      // a measurement that charts show
	Changes     Topic = "changes"     // changes of knobs, their stages, and notes
	Losses      Topic = "losses"      // losses of updates and fits
	Generations Topic = "generations" // scores, refits, descriptions of D_syn
	Staged      Topic = "staged"      // staged values, their preview, a value being typed
	Charts      Topic = "charts"      // how charts are drawn: range, axis, cursor, quantities
)

// Versions counts how often each topic has changed.
type Versions map[Topic]int

// Touch notes that topics have changed.
func (v Versions) Touch(topics ...Topic) {
	for _, t := range topics {
		v[t]++
	}
}

// TouchAll notes that everything has changed.
func (v Versions) TouchAll() {
	for t := range v {
		v[t]++
	}
}

// Sum is a number that grows whenever one of the topics changes.
func (v Versions) Sum(topics ...Topic) (n int) {
	for _, t := range topics {
		n += v[t]
	}
	return n
}
