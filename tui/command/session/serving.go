package session

import (
	"fmt"
	"image"
	"sync"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/command/results"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/remote"
)

// serving is what a session does for the screens of other processes.
type serving struct {
	viewers *remote.Viewers
	viewer  *remote.Viewer // the screen of this process; nil: there is none
	server  *remote.Server
	draw    func(pose []float64, w, h int) (*image.RGBA, error) // shared by all screens
	whatIf  *whatIf                                             // the same
	alike   func() []history.Past                               // other runs of the same settings, read once for all screens
}

// newServing prepares a session for screens, its own and those of others.
func (s *session) newServing() {
	s.viewers = remote.NewViewers(s.watched)
	s.whatIf = newWhatIf(s)
	if !s.config.Dreams() {
		s.alike = sync.OnceValue(func() []history.Past { return results.Earlier(s.folder.Dir(), s.config) })
	}
	if draw := s.deps.Drawing(s.task); draw != nil {
		s.draw = sharedDrawing(draw)
	}
}

// watched gets the number of screens that may drive the run: if there is one, a fault waits for the person to
// do something about it.
func (s *session) watched(screens int) {
	l := s.live.Load()
	switch {
	case l == nil:
	case screens > 0:
		l.OnFault(lab.FaultPause)
	default:
		l.OnFault(lab.FaultFail)
	}
}

// listen lets other processes connect to the run; if that is impossible, the run goes on without.
func (s *session) listen() {
	folder, err := s.folder.Handle()
	if err != nil {
		s.said = append(s.said, cli.Line(fmt.Errorf("listen for pgrlab attach: %w", err)))
		return
	}
	server, err := remote.Listen(remote.Options{
		Folder: folder, Device: s.device(), Lab: s.lab, Viewers: s.viewers, Config: s.config, Ended: s.ended,
		Screen: s.shown,
	})
	if err != nil {
		folder.Close()
		s.said = append(s.said, cli.Line(err))
		return
	}
	s.server = server
}

// stopServing stops serving when the run is over.
func (s *session) stopServing() {
	if s.server != nil {
		s.server.Close("the run has ended")
	}
}

// shown are the options of the run for one screen.
func (s *session) shown() tui.Options {
	return tui.Options{
		About: pane.About{
			Config: s.config, Folder: run.Named(s.folder.Dir()), References: replay.References(s.config), Untrained: replay.Untrained(s.config), Alike: s.alike, Draw: s.draw, Device: s.device(),
			Fork: s.fork, GoOn: s.goOn, Hold: s.hold, Look: s.noteLook, Pace: func() pane.ForkPace { return forks.Pace(s.threads, s.startup, s.place.GPU != nil) },
			WhatIf: s.whatIf, Ground: s.ground(),
			Names: s.names(), Choices: s.task.Choices, GPU: s.use.Load,
		},
		Home: tui.Home(),
	}
}

// names are those of the numbers of an observation: the task's, or else as a formula writes them.
func (s *session) names() []string {
	if len(s.task.Names) > 0 || s.config.Sees() {
		return s.task.Names
	}
	names := make([]string, s.task.ObsSize)
	for i := range names {
		names[i] = fmt.Sprintf("obs[%d]", i)
	}
	return names
}

// ground is the part of the task's pictures that shows its ground; nil: no part.
func (s *session) ground() pane.Ground {
	if s.deps.Ground == nil {
		return nil
	}
	return s.deps.Ground(s.config.Task)
}

// device names the device with its kernels.
func (s *session) device() string {
	if g := s.place.GPU; g != nil {
		return fmt.Sprintf("%s %s %s", g.Device(), g.Name, s.place.Precision)
	}
	if s.deps.Kernels == nil {
		return s.config.Device
	}
	return s.config.Device + " " + s.deps.Kernels().Family
}

// sharedDrawing lets several screens draw with one view, each into its own picture.
func sharedDrawing(draw func([]float64, int, int) (*image.RGBA, error)) func([]float64, int, int) (*image.RGBA, error) {
	var mu sync.Mutex
	return func(pose []float64, w, h int) (*image.RGBA, error) {
		mu.Lock()
		defer mu.Unlock()
		img, err := draw(pose, w, h)
		if err != nil {
			return nil, err
		}
		own := *img
		own.Pix = append([]uint8(nil), img.Pix...)
		return &own, nil
	}
}
