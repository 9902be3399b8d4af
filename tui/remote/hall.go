package remote

import (
	"fmt"
	"slices"
	"sync"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
)

// Hall holds the screens of a run. The one that has been there longest drives, until
// another one takes over.
type Hall struct {
	watched func(screens int) // how many there are now

	mu     sync.Mutex
	seats  []*Seat // in the order in which they came
	driver *Seat
}

// NewHall makes an empty hall; watched is told how many screens there are whenever
// that changes, must not block and must not call the hall.
func NewHall(watched func(screens int)) *Hall { return &Hall{watched: watched} }

// Seat is the place of one screen; it is a tui.Seat.
type Seat struct {
	hall *Hall
	name string
}

// Sit gives a screen a place; Leave gives it back.
func (h *Hall) Sit(name string) *Seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Seat{h, name}
	h.seats = append(h.seats, s)
	if h.driver == nil {
		h.driver = s
	}
	h.watched(len(h.seats))
	return s
}

// Leave gives the place back. If it was the driver's, the screen that has been there
// longest drives.
func (s *Seat) Leave() {
	h := s.hall
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.seats, s)
	if i < 0 {
		return
	}
	h.seats = slices.Delete(h.seats, i, i+1)
	if h.driver == s {
		h.driver = nil
		if len(h.seats) > 0 {
			h.driver = h.seats[0]
		}
	}
	h.watched(len(h.seats))
}

// Driver is who drives instead of this screen; "": this one does.
func (s *Seat) Driver() string {
	s.hall.mu.Lock()
	defer s.hall.mu.Unlock()
	if s.hall.driver == s || s.hall.driver == nil {
		return ""
	}
	return s.hall.driver.name
}

// Take makes this screen the driver.
func (s *Seat) Take() {
	s.hall.mu.Lock()
	defer s.hall.mu.Unlock()
	if slices.Contains(s.hall.seats, s) {
		s.hall.driver = s
	}
}

// Who is the driver, and how many screens there are.
func (h *Hall) Who() (driver string, screens int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.driver != nil {
		driver = h.driver.name
	}
	return driver, len(h.seats)
}

// Lab is l as the screen at this place may use it: what it sends is carried out
// while it drives, under its name.
func (s *Seat) Lab(l pane.Lab) pane.Lab { return &seated{l, s} }

// seated is a lab as one of several screens sees it.
type seated struct {
	pane.Lab
	seat *Seat
}

func (l *seated) Send(c event.Command) error {
	switch c.(type) {
	case event.Map, event.Watch: // who only looks need not drive
		return l.Lab.Send(c)
	}
	if driver := l.seat.Driver(); driver != "" {
		return fmt.Errorf("%s drives: D takes over", driver)
	}
	return l.Lab.Send(signed(c, l.seat.name))
}

// signed is a command under the name of who gave it.
func signed(c event.Command, by string) event.Command {
	switch c := c.(type) {
	case event.SetKnob:
		c.By = by
		return c
	case event.Undo:
		c.By = by
		return c
	case event.Pause:
		return event.Pause{By: by}
	case event.Park:
		return event.Park{By: by}
	case event.Resume:
		return event.Resume{By: by}
	case event.Stop:
		return event.Stop{By: by}
	case event.Checkpoint:
		return event.Checkpoint{By: by}
	case event.AnalyseNow:
		return event.AnalyseNow{By: by}
	case event.Note:
		c.By = by
		return c
	}
	return c
}
