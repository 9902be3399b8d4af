// Package picture turns images into text for a terminal: half blocks in as many
// colours as it has, or plain ASCII by brightness. Text out; it knows neither
// what is in the image nor Bubble Tea.
//
// A cell of a terminal is about twice as high as wide, so that a half block,
// whose two halves have a colour each, makes two square pixels of it.
package picture
