// Package picture turns images into text for a terminal: half blocks in as many colours as the
// terminal has, or plain ASCII by brightness. Its output is text; it knows neither the content of
// the images nor Bubble Tea.
//
// A cell of a terminal is about twice as high as wide, so a half block, whose two halves have a
// colour each, turns a cell into two square pixels.
package picture
