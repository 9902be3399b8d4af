// Package replay is the command replay: it shows a past run on the screen, or one frame of it as a
// picture.
package replay
