package tui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/tui/format"
	"pgrlab/tui/lesson"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/fans"
	"pgrlab/tui/pane/whatif"
	"pgrlab/tui/steer"
)

// leaveNow asks the screen to leave, as ctrl+z does.
type leaveNow struct{}

// quitTitle is the title of the question of how to leave a run that trains.
const quitTitle = "quit"

// secondInterrupt is the time in which a second ctrl+c means stop and save at once.
const secondInterrupt = 5 * time.Second

// leaving handles how the person leaves the screen, and what becomes of the run.
type leaving struct {
	*pane.Run
	steering *steer.Steering
	fans     *fans.Pane
	whatIf   *whatif.Pane
	lessons  *lesson.Lessons
	picking  func() bool // whether the first screen is open
	asks     func() bool // whether the question of how to leave is open
	closeAll func()      // closes help and text entry
	stopped  tea.Cmd     // stops this process for its shell

	interruptAt   time.Time
	stopRequested bool
	stopAll       bool    // also the children of forks
	next          Outcome // what the person wants after a run that is over
	soon          bool    // as soon as the run has started
	closed        bool    // a key has closed the screen
}

// leave closes the screen; it makes keys typed after the closing one do nothing.
func (l *leaving) leave() tea.Cmd {
	l.closed = true
	return tea.Quit
}

// openQuit asks how to leave.
func (l *leaving) openQuit() tea.Cmd {
	children := l.fans.Unfinished()
	if l.About.Remote { // the children are not this screen's to end
		children = 0
	}
	if l.Ended() && children > 0 {
		return l.askForChildren(children)
	}
	lost := l.lostWithThis()
	if l.Ended() && lost != "" && !l.About.Remote {
		return l.askForWhatIf(lost)
	}
	if l.About.Ended && !l.About.Remote {
		return l.askWhatNext()
	}
	if l.About.Picked {
		l.next = FirstScreenRequested
	}
	if l.Ended() || l.About.Replay || l.picking() || l.Watching() {
		return l.leave()
	}
	if l.Lab == nil {
		l.Question(&pane.Dialog{Title: "quit", Lines: []string{"The run has not started yet."}, Choices: []pane.Choice{
			{Key: "s", Label: "stop", Action: l.stop}, {Key: "esc", Label: "cancel", Action: nil},
		}})
		return nil
	}
	lines := []string{"The screen is only a view: the run does not need it."}
	if l.About.Folder != "" {
		lines = append(lines, "run folder  "+l.About.Folder)
	}
	leave, stop := "leave it training (or ctrl+z); pgrlab attach brings it back", "stop and save"
	if l.About.Remote {
		leave = "leave it training; pgrlab attach brings the screen back"
	}
	if lost != "" && l.About.Remote {
		stop += "; the what-if ends with it"
	} else if lost != "" {
		lines = append(lines, lost)
	}
	if children > 0 {
		stop += fmt.Sprintf("; its forks, %s, go on", format.Counted(children, "child", "children"))
	}
	d := &pane.Dialog{Title: quitTitle, Lines: lines}
	if changed := l.lessons.Changes(); len(changed) > 0 { // another screen does not know what to put back
		d.Lines = append(d.Lines, "The lesson ends with this screen, and has changed knobs of this run.")
		d.Choices = append(d.Choices, pane.Choice{Key: "b", Label: "put back " + strings.Join(changed, ", ") + ", and leave it training", Action: l.detachAsBefore})
	}
	d.Choices = append(d.Choices, pane.Choice{Key: "d", Label: leave, Action: l.detach}, pane.Choice{Key: "s", Label: stop, Action: l.stop})
	if children > 0 {
		d.Choices = append(d.Choices, pane.Choice{Key: "a", Label: "stop and save all of them", Action: l.stopAllOf})
	}
	d.Choices = append(d.Choices, pane.Choice{Key: "esc", Label: "cancel", Action: nil})
	l.Question(d)
	return nil
}

// detachAsBefore leaves the run training with the knobs that it had before the lesson.
func (l *leaving) detachAsBefore() tea.Cmd {
	if err := l.lessons.PutBack(); err != nil {
		return l.Report(err)
	}
	return l.detach()
}

// askForChildren asks what to do with the children of a run that is over.
func (l *leaving) askForChildren(n int) tea.Cmd {
	l.Question(&pane.Dialog{
		Title: "quit", Lines: []string{fmt.Sprintf("The run is over; of its forks, %s still to be trained.", format.Counted(n, "child is", "children are"))},
		Choices: []pane.Choice{
			{Key: "d", Label: "leave them training, in processes of their own", Action: l.leave},
			{Key: "s", Label: "stop and save them", Action: l.stopAllOf},
			{Key: "esc", Label: "cancel", Action: nil},
		},
	})
	return nil
}

// lostWithThis says what would end with the run's process; "": nothing.
func (l *leaving) lostWithThis() string {
	share, under := l.whatIf.Under()
	if !under {
		return ""
	}
	return fmt.Sprintf("The what-if, %s done, ends with this screen.", format.Percent(share))
}

// askForWhatIf asks whether to leave a run that is over while a what-if is under way.
func (l *leaving) askForWhatIf(lost string) tea.Cmd {
	l.Question(&pane.Dialog{Title: "quit", Lines: []string{"The run is over. " + lost}, Choices: []pane.Choice{
		{Key: "q", Label: "quit", Action: l.leave},
		{Key: "esc", Label: "wait for it", Action: nil},
	}})
	return nil
}

// askWhatNext asks what follows a run that is over.
func (l *leaving) askWhatNext() tea.Cmd {
	want := func(o Outcome) func() tea.Cmd {
		return func() tea.Cmd {
			l.next = o
			return l.leave()
		}
	}
	l.Question(&pane.Dialog{Title: "the run is over", Choices: []pane.Choice{
		{Key: "q", Label: "quit", Action: l.leave},
		{Key: "r", Label: "quit, and print its report", Action: want(ReportRequested)},
		{Key: "l", Label: "to the first screen: earlier runs, and new ones", Action: want(FirstScreenRequested)},
		{Key: "esc", Label: "look on", Action: nil},
	}})
	return nil
}

// interrupt handles ctrl+c: it opens the quit dialog; a second ctrl+c in time stops at once.
func (l *leaving) interrupt() tea.Cmd {
	now := l.Now()
	if !l.interruptAt.IsZero() && now.Sub(l.interruptAt) < secondInterrupt {
		return l.stop()
	}
	l.interruptAt = now
	l.closeAll()
	l.Changed()
	return l.openQuit()
}

// stop asks the lab to save and end. If the lab is too busy to take the request, the caller of Run
// asks again on StopRequested.
func (l *leaving) stop() tea.Cmd {
	if l.Watching() {
		return l.leave()
	}
	if l.Lab != nil {
		err := l.Lab.Send(event.Stop{By: steer.Sender})
		if err != nil && !errors.Is(err, event.ErrBusy) && !errors.Is(err, event.ErrEnded) {
			return l.Report(err) // another screen has just taken over
		}
	}
	l.stopRequested = true
	return l.leave()
}

// stopAllOf stops the run and its children.
func (l *leaving) stopAllOf() tea.Cmd {
	if l.Watching() {
		return l.leave()
	}
	l.stopAll = true
	if l.Ended() {
		return l.leave()
	}
	return l.stop()
}

// suspend handles ctrl+z, the key by which a shell gets its terminal back: the run goes on without
// this screen. If there is no run that could go on, the process is stopped, as the shell expects.
func (l *leaving) suspend() tea.Cmd {
	switch {
	case l.About.Remote && len(l.lessons.Changes()) == 0: // this process does not run on that terminal
		return l.leave()
	case l.picking() || l.About.Replay || l.Ended() && l.fans.Unfinished() == 0:
		return l.stopped
	case l.Lab == nil:
		l.soon = true
		l.Changed()
		return nil
	case l.Ended():
		return l.openQuit()
	}
	return l.handOver()
}

// handOver is detach, or the question of what to do with the knobs that a lesson has set. Asked a second
// time it is detach.
func (l *leaving) handOver() tea.Cmd {
	if !l.asks() && l.Lab != nil && !l.Ended() && !l.Watching() && len(l.lessons.Changes()) > 0 {
		return l.openQuit()
	}
	return l.detach()
}

// detach leaves the run training. The caller of Run hands the run over to a process of its own, or
// notes that no screen watches it any more.
func (l *leaving) detach() tea.Cmd {
	switch {
	case l.About.Remote:
	case l.Snap != nil && l.Snap.Parked:
		l.Tell("the run is parked: P takes the GPU again; or q s saves and stops it, and pgrlab train --resume continues it")
		return nil
	case l.fans.IsSaving():
		l.Tell("a fork is being made: leave when it is")
		return nil
	}
	l.lessons.Release()
	return l.leave()
}
