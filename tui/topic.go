package tui

// topic is something that changes while a screen is open. A pane is drawn again when
// one of its topics has changed.
type topic string

// The topics that several panes share. Every pane has one of its own beside them, by
// its ID, for what its keys change.
const (
	topicSnapshot    topic = "snapshot"    // the newest numbers of the run
	topicLines       topic = "lines"       // the list of events
	topicCurves      topic = "curves"      // a measurement that charts show
	topicChanges     topic = "changes"     // changes of knobs, their stages, and notes
	topicLosses      topic = "losses"      // losses of updates and fits
	topicGenerations topic = "generations" // scores, refits, descriptions of D_syn
	topicStaged      topic = "staged"      // staged values, their preview, a value being typed
	topicCharts      topic = "charts"      // how charts are drawn: range, axis, cursor, quantities
)

// versions counts how often each topic has changed.
type versions map[topic]int

// touch says that topics have changed.
func (v versions) touch(topics ...topic) {
	for _, t := range topics {
		v[t]++
	}
}

// touchAll says that everything has changed.
func (v versions) touchAll() {
	for t := range v {
		v[t]++
	}
}

// sum grows when one of the topics changes.
func (v versions) sum(topics ...topic) (n int) {
	for _, t := range topics {
		n += v[t]
	}
	return n
}
