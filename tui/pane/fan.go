package pane

import "pgrlab/tui/history"

// FanCurves are the forks that the charts show behind the run.
type FanCurves struct {
	From, To int // env steps at which they begin and end
	// What came after the fork, of the forks without the change and of those with it.
	Without, With []*history.History
}
