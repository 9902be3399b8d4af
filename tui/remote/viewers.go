package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pgrlab/core/event"
	"pgrlab/tui/pane"
)

// Viewers are the screens of a run. Among the screens that may drive, the one that joined first
// drives until another one takes over.
type Viewers struct {
	watched func(screens int) // gets the present number of screens that may drive

	mu     sync.Mutex
	all    []*Viewer // in the order in which they joined
	driver *Viewer
}

// NewViewers has no screens yet; watched gets the number of screens that may drive whenever a screen
// comes or goes; the others can do nothing about what they see. It must not block and must not
// call Viewers.
func NewViewers(watched func(screens int)) *Viewers { return &Viewers{watched: watched} }

// Viewer is one of the screens; it is a pane.Viewer.
type Viewer struct {
	of    *Viewers
	name  string
	watch bool // never drives

	holds string   // the lesson on this screen that holds the run; "": none
	lab   pane.Lab // the run that it holds
}

// Join adds a screen; Leave removes it.
func (h *Viewers) Join(name string) *Viewer {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.add(&Viewer{of: h, name: name})
	if h.driver == nil {
		h.driver = s
	}
	return s
}

// Watch adds a screen that never drives.
func (h *Viewers) Watch(name string) *Viewer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.add(&Viewer{of: h, name: name, watch: true})
}

func (h *Viewers) add(s *Viewer) *Viewer {
	h.all = append(h.all, s)
	h.report()
	return s
}

// report says how many screens may drive.
func (h *Viewers) report() {
	n := 0
	for _, s := range h.all {
		if !s.watch {
			n++
		}
	}
	h.watched(n)
}

// Leave removes the screen. If it drove, the screen that joined first among those that may drive
// takes over.
func (s *Viewer) Leave() {
	s.release()
	h := s.of
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.all, s)
	if i < 0 {
		return
	}
	h.all = slices.Delete(h.all, i, i+1)
	if h.driver == s {
		h.driver = nil
		if i := slices.IndexFunc(h.all, func(o *Viewer) bool { return !o.watch }); i >= 0 {
			h.driver = h.all[i]
		}
	}
	h.report()
}

// Driver is the name of the screen that drives instead of this one; "": this one does.
func (s *Viewer) Driver() string {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	switch {
	case s.of.driver == s:
		return ""
	case s.of.driver != nil:
		return s.of.driver.name
	case s.watch:
		return "no one"
	}
	return ""
}

// MayDrive says whether the screen may become the driver.
func (s *Viewer) MayDrive() bool { return !s.watch }

// Take makes this screen the driver.
func (s *Viewer) Take() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if !s.watch && slices.Contains(s.of.all, s) {
		s.of.driver = s
	}
}

// Who returns the driver and the number of screens.
func (h *Viewers) Who() (driver string, screens int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.driver != nil {
		driver = h.driver.name
	}
	return driver, len(h.all)
}

// Lab is l for this screen: its commands are carried out while the screen drives, under the
// screen's name.
func (s *Viewer) Lab(l pane.Lab) pane.Lab { return &viewerLab{l, s} }

// viewerLab is a lab as one of several screens uses it.
type viewerLab struct {
	pane.Lab
	viewer *Viewer
}

func (l *viewerLab) Send(c event.Command) error {
	switch c.(type) {
	case event.Map, event.Watch, event.Dreams: // watching needs no control
		return l.Lab.Send(c)
	}
	if l.viewer.watch {
		return pane.ErrWatchOnly
	}
	if driver := l.viewer.Driver(); driver != "" {
		return fmt.Errorf("%s drives: D takes over", driver)
	}
	err := l.Lab.Send(signed(c, l.viewer.name))
	if err == nil {
		l.viewer.holding(l.Lab, c)
	}
	return err
}

// holding notes whether a lesson on this screen holds the run: it ends with the screen, where those of forks
// and of a what-if end by themselves. What a lesson has set is not to be trained with: then the hold stays.
func (s *Viewer) holding(l pane.Lab, c event.Command) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	switch c := c.(type) {
	case event.Pause:
		if c.Passing && strings.HasPrefix(c.By, "lesson ") {
			s.holds, s.lab = c.By, l
		}
	case event.SetKnob:
		if c.By == s.holds {
			s.holds = ""
		}
	case event.Resume:
		s.holds = ""
	}
}

// release ends the hold of a lesson on this screen.
func (s *Viewer) release() {
	s.of.mu.Lock()
	end, lab := event.Resume{By: s.holds, Of: s.holds}, s.lab
	s.holds = ""
	s.of.mu.Unlock()
	if end.Of == "" {
		return
	}
	if !errors.Is(lab.Send(end), event.ErrBusy) {
		return
	}
	go func() { // a full mailbox must not leave the run held
		for errors.Is(lab.Send(end), event.ErrBusy) {
			time.Sleep(50 * time.Millisecond)
		}
	}()
}

// signed is a command under the name of the screen that sent it.
func signed(c event.Command, by string) event.Command {
	switch c := c.(type) {
	case event.SetKnob:
		c.By = by
		return c
	case event.Undo:
		c.By = by
		return c
	case event.Cancel:
		c.By = by
		return c
	case event.Pause:
		if c.Passing { // it is ended under this name
			return c
		}
		return event.Pause{By: by}
	case event.Park:
		return event.Park{By: by}
	case event.Resume:
		if c.Of != "" {
			return c
		}
		return event.Resume{By: by}
	case event.Stop:
		return event.Stop{By: by}
	case event.Checkpoint:
		c.By = by
		return c
	case event.AnalyseNow:
		return event.AnalyseNow{By: by}
	case event.Ground:
		return event.Ground{By: by}
	case event.LeaveGround:
		return event.LeaveGround{By: by}
	case event.Note:
		c.By = by
		return c
	}
	return c
}
