package pane

// The smallest sizes of a screen, in columns and rows, for each way of dividing it.
const (
	BoxedWidth, BoxedHeight   = 110, 34
	RuledWidth, RuledHeight   = 80, 24
	TabbedWidth, TabbedHeight = 40, 10
	FullWidth, FullHeight     = 132, 40 // for all panes at once

	AboveLesson = 7 // the rows for which tabs are the best layout, where a lesson leaves no more
)
