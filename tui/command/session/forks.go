package session

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/pane"
)

// fork makes the children of a plan, notes them in the journal and queues them. With an error it
// returns the children that could be made.
func (s *session) fork(p pane.ForkPlan) (made event.Forked, children []pane.Child, err error) {
	room := func() forks.Room { return forks.RoomBeside(s.threads) }
	if p.Hold {
		room = forks.RoomAlone
	}
	children, over, err := s.forks.Add(room, func() ([]pane.Child, error) {
		var err error
		made, err = s.children(p)
		if len(made.Forks) == 0 {
			return nil, err
		}
		var children []pane.Child
		for i, f := range made.Forks {
			children = append(children, pane.Child{Dir: f.Dir, Changed: f.Changed, From: made.From.Step, To: made.From.Step + made.Steps})
			made.Forks[i].Dir = filepath.Base(f.Dir)
		}
		return children, errors.Join(err, s.noteForks(made))
	})
	if len(children) > 0 && s.lab != nil {
		s.holds.begin() // before the pause, which the end of earlier forks must not take
		if p.Hold {
			err = errors.Join(err, s.lab.Send(event.Pause{By: forkSender, Passing: true}))
		}
		go s.release(over)
	}
	return made, children, err
}

// goOn trains children on that stopped before their end, and returns them: those that wait or train
// already, here or in processes of their own, are none of them.
func (s *session) goOn(children []pane.Child) ([]pane.Child, error) {
	children, over, err := s.forks.Add(func() forks.Room { return forks.RoomBeside(s.threads) }, func() ([]pane.Child, error) {
		return slices.DeleteFunc(children, func(c pane.Child) bool { return s.forks.Has(c.Dir) || run.IsHeld(c.Dir) }), nil
	})
	if len(children) > 0 && s.lab != nil {
		s.holds.begin()
		go s.release(over)
	}
	return children, err
}

// forkSender names the holder of the run until its forks are done.
const forkSender = "fan"

// release waits until forks are over and, if they are the last that train, ends the hold that the screen
// may have put on the run at any time.
func (s *session) release(over func()) {
	over()
	s.holds.end(func() {
		_ = s.deliver(event.Resume{By: forkSender, Of: forkSender}) // a run that has ended needs none
	})
}

// hold makes the run wait until the forks that train are over.
func (s *session) hold() error {
	return s.holds.during(func() error { return s.lab.Send(event.Pause{By: forkSender, Passing: true}) })
}

// deliver sends a command that must not be lost, until the lab has room for it.
func (s *session) deliver(c event.Command) error {
	for {
		if err := s.lab.Send(c); !errors.Is(err, event.ErrBusy) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// holds counts the groups of forks that train.
type holds struct {
	mu sync.Mutex
	n  int
}

func (h *holds) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
}

// end is the end of a group, and calls last if no other trains.
func (h *holds) end(last func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n == 0 {
		last()
	}
}

// during calls do while a group trains, whose end comes after that.
func (h *holds) during(do func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n == 0 {
		return pane.ErrNoForks
	}
	return do()
}

// noteForks writes into the journal which forks were made, also if the run is over.
func (s *session) noteForks(made event.Forked) error {
	if s.lab == nil {
		return nil
	}
	ended, err := s.noteOf(event.Fork{Forked: made}, event.TypeFork, made)
	if err != nil {
		return fmt.Errorf("the forks are made, but no line of the journal says so: %w", err)
	}
	if ended {
		s.later = append(s.later, made)
	}
	return nil
}

// noteLook writes into the journal what forks showed, also if the run is over.
func (s *session) noteLook(l event.Looked) error {
	_, err := s.noteOf(event.ForkLook{Looked: l}, event.TypeForkLook, l)
	return err
}

// noteOf has the lab write a line, or writes it after the end of the run.
func (s *session) noteOf(c event.Command, kind string, body any) (ended bool, err error) {
	if err = s.deliver(c); !errors.Is(err, event.ErrEnded) {
		return false, err
	}
	<-s.ended // its folder is closed
	folder, err := run.Extend(s.folder.Dir())
	if err != nil {
		return true, err
	}
	defer folder.Close()
	return true, folder.Append(run.Line{Type: kind, Step: s.lab.Snapshot().Step, Member: run.NoMember, WallS: s.wall(), Body: body})
}

// wall is the wall_s of the last event.
func (s *session) wall() float64 {
	all := s.lab.Events(0)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Wall.Sub(all[0].Wall).Seconds()
}

// children makes the folders of the children of a plan.
func (s *session) children(p pane.ForkPlan) (made event.Forked, err error) {
	if p.Confirm {
		return s.confirmation(p)
	}
	from, err := rundir.Checkpoint(s.folder.Dir() + at(p.At))
	if err != nil {
		return made, err
	}
	config := s.config
	config.Steps, config.Evaluation.Every = from.Step+p.Steps, p.Every
	prefix := fmt.Sprintf("%s-fork-%d", run.Named(s.folder.Dir()), from.Step)
	return forks.Make(config, from, p.Set, p.Each, prefix, func(string) {}) // the parent is this run, whose folder can be written to
}

// at is the suffix of a folder's name that means its checkpoints up to a step; 0: all.
func at(step int) string {
	if step == 0 {
		return ""
	}
	return fmt.Sprintf("@%d", step)
}

// confirmation writes the changes of the run into a preset, and makes runs with and without the
// preset, from step 0 and on seeds that the run did not use.
func (s *session) confirmation(p pane.ForkPlan) (made event.Forked, err error) {
	changed := s.config
	if changed.Schedule, err = s.schedule(); err != nil {
		return made, err
	}
	doc, err := presets.Encode(changed)
	if err != nil {
		return made, err
	}
	name := run.Named(s.folder.Dir()) + "-schedule"
	preset := name + ".toml"
	for n := 2; rundir.Exists(preset); n++ { // an earlier confirmation made it
		preset = fmt.Sprintf("%s-%d.toml", name, n)
	}
	err = cli.WriteFile(preset, func(w io.Writer) error {
		_, err := w.Write(doc)
		return err
	})
	if err != nil {
		return made, fmt.Errorf("write preset: %w", err)
	}
	made = event.Forked{Schedule: changed.Schedule, Steps: s.config.Steps, Every: s.config.Evaluation.Every}
	for _, f := range forks.Deal(s.config, p.Each, run.Named(s.folder.Dir()), forks.OfSchedules) {
		config := s.config
		if f.Changed {
			config = changed
		}
		config.Seed = f.Seed
		doc, err := presets.Encode(config)
		if err != nil {
			return made, err
		}
		folder, err := run.Create(f.Dir, doc)
		if err != nil {
			return made, err
		}
		if err := errors.Join(keepTask(folder, s.task), folder.Close()); err != nil {
			return made, err
		}
		made.Forks = append(made.Forks, f)
	}
	return made, nil
}

// schedule lists the changes of the run: those that were made, and those that are still to come, which
// are also the control's if the configuration plans them.
func (s *session) schedule() (all []string, err error) {
	var toCome []knob.Scheduled
	if s.lab != nil {
		toCome = s.lab.Snapshot().Scheduled // before the journal is read: none may be missed
	}
	made, err := event.ReadSchedule(s.folder.Dir())
	if err != nil {
		return nil, err
	}
	for _, c := range made {
		all = append(all, c.String())
	}
	for _, c := range toCome {
		if text := c.String(); !slices.Contains(all, text) { // else it was made meanwhile
			all = append(all, text)
		}
	}
	return all, nil
}

// itsForks says how to compare the forks that were made of the run.
func (s *session) itsForks() (said []string) {
	var all []event.Forked
	for _, e := range s.lab.Events(0) {
		switch b := e.Body.(type) {
		case event.Noted:
			if b.Obs.At == nil && strings.HasPrefix(b.Text, event.ForkedAt) {
				all = nil // those before it are of the run that this one was forked off
			}
		case event.Forked:
			all = append(all, b)
		}
	}
	for _, f := range append(all, s.later...) {
		text := "what its forks say: pgrlab report"
		for _, one := range f.Forks {
			text += " " + shell.Word(rundir.Near(pane.ForkFolder(run.Named(s.folder.Dir()), one.Dir)))
		}
		said = append(said, text)
	}
	return said
}
