// Package picture shows images in a terminal: by kitty's graphics protocol, as sixels, as half blocks
// in as many colours as the terminal has, or as ASCII by brightness. It knows neither the content of
// the images nor Bubble Tea.
//
// A cell of a terminal is about twice as high as wide, so a half block, whose two halves have a
// colour each, turns a cell into two square pixels.
package picture
