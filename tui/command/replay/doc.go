// Package replay is the command replay: a run of the past on the screen, or one frame of it as
// a picture.
package replay
