package tui

// Seat is a screen's place among several screens of one run, of which one drives:
// only what it sends is carried out.
type Seat interface {
	// Driver is who drives instead of this screen; "": this one does.
	Driver() string
	// Take makes this screen the one that drives.
	Take()
}
