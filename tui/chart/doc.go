// Package chart draws line charts as text: series over a horizontal axis, labels at their ends,
// vertical markers with labels, faint ticks, dots on the measured points over a smoothing line, and
// brackets where reference values were measured. It knows nothing of learning or of the terminal
// program around it: data goes in, exactly h lines of exactly w columns come out, and the caller's
// Paint adds the colour.
//
// # Why
//
// The lines themselves are drawn by github.com/guptarohit/asciigraph, one series at a time, and
// read back into cells. Used directly that library would panic on an empty series and on ±Inf, draw
// a constant series on a single row whatever the height, widen with its labels, sample points away
// (a spike among 100,000 points vanished) and ignore bounds that are narrower than the data. So
// this package first reduces the data to the plot's columns (Decimate), maps it to row numbers with
// a scale of round labels, clips it, and only then draws it; it lays labels, axes, markers and dots
// over the cells itself. With Glyphs.Braille this package draws the lines too, with two by four
// dots a character, from the data reduced to twice the columns.
package chart
