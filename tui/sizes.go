package tui

// The least sizes of a screen, columns and rows, for each way of dividing it.
const (
	boxedWidth, boxedHeight   = 110, 34
	ruledWidth, ruledHeight   = 80, 24
	tabbedWidth, tabbedHeight = 40, 10
	fullWidth, fullHeight     = 132, 40 // for all panes at once

	aboveLesson = 7 // rows of which tabs make the best, where a lesson leaves no more
)
