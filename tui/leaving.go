package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
)

// leaveNow asks the screen to leave, as ctrl+z does.
type leaveNow struct{}

// secondInterrupt is the time in which a second ctrl+c means stop and save at once.
const secondInterrupt = 5 * time.Second

// leaving is how the person leaves the screen, and what becomes of the run.
type leaving struct {
	*runView
	steering *steering
	runs     *runsPane
	picking  func() bool // whether the first screen is open
	closeAll func()      // closes help and text entry

	interruptAt   time.Time
	stopRequested bool
	stopAll       bool    // also the children of forks
	next          Outcome // what the person wants after a run that is over
	soon          bool    // as soon as the run has started
	closed        bool    // a key has closed the screen
}

// leave closes the screen; keys that were typed after the one that does it do nothing.
func (l *leaving) leave() tea.Cmd {
	l.closed = true
	return tea.Quit
}

// openQuit asks how to leave.
func (l *leaving) openQuit() tea.Cmd {
	children := l.runs.unfinished()
	if l.about.Remote { // they are not this screen's to end
		children = 0
	}
	if l.ended() && children > 0 {
		return l.askForChildren(children)
	}
	if l.about.Ended {
		return l.askWhatNext()
	}
	if l.ended() || l.about.Replay || l.picking() || l.watching() {
		return l.leave()
	}
	if l.lab == nil {
		l.question(&dialog{title: "quit", lines: []string{"The run has not started yet."}, choices: []choice{
			{"s", "stop", l.stop}, {"esc", "cancel", nil},
		}})
		return nil
	}
	lines := []string{"The screen is only a view: the run does not need it."}
	if l.about.Folder != "" {
		lines = append(lines, "run folder  "+l.about.Folder)
	}
	label := "leave it training (or ctrl+z); pgrlab attach brings it back"
	if l.about.Remote {
		label = "leave it training; pgrlab attach brings the screen back"
	}
	d := &dialog{title: "quit", lines: lines, choices: []choice{
		{"d", label, l.detach},
		{"s", "stop and save", l.stop},
	}}
	if children > 0 {
		d.choices[1].label += fmt.Sprintf("; its forks, %s, go on", counted(children, "child", "children"))
		d.choices = append(d.choices, choice{"a", "stop and save all of them", l.stopAllOf})
	}
	d.choices = append(d.choices, choice{"esc", "cancel", nil})
	l.question(d)
	return nil
}

// askForChildren asks what becomes of the children of a run that is over.
func (l *leaving) askForChildren(n int) tea.Cmd {
	l.question(&dialog{
		title: "quit", lines: []string{fmt.Sprintf("The run is over; of its forks, %s still to be trained.", counted(n, "child is", "children are"))},
		choices: []choice{
			{"d", "leave them training, in processes of their own", l.leave},
			{"s", "stop and save them", l.stopAllOf},
			{"esc", "cancel", nil},
		},
	})
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
	l.question(&dialog{title: "the run is over", choices: []choice{
		{"q", "quit", l.leave},
		{"r", "quit, and print its report", want(ReportRequested)},
		{"l", "to the first screen: earlier runs, and new ones", want(FirstScreenRequested)},
		{"esc", "look on", nil},
	}})
	return nil
}

// interrupt is ctrl+c: the quit dialog; the second one in time stops at once.
func (l *leaving) interrupt() tea.Cmd {
	now := l.now()
	if !l.interruptAt.IsZero() && now.Sub(l.interruptAt) < secondInterrupt {
		return l.stop()
	}
	l.interruptAt = now
	l.closeAll()
	l.changed()
	return l.openQuit()
}

// stop asks the lab to save and end. If the lab is too busy to be asked, the caller of
// Run ends it on StopRequested.
func (l *leaving) stop() tea.Cmd {
	if l.watching() {
		return l.leave()
	}
	l.stopRequested = true
	if l.lab != nil {
		if err := l.lab.Send(event.Stop{By: sender}); err != nil {
			l.refuse(err.Error())
		}
	}
	return l.leave()
}

// stopAllOf stops the run and its children.
func (l *leaving) stopAllOf() tea.Cmd {
	if l.watching() {
		return l.leave()
	}
	l.stopAll = true
	if l.ended() {
		return l.leave()
	}
	return l.stop()
}

// suspend is ctrl+z, the shell's key for having its terminal back: the run goes on
// without this screen. Where there is no run that could, the process is stopped, as the
// shell expects.
func (l *leaving) suspend() tea.Cmd {
	switch {
	case l.about.Remote: // nothing of this process is on that terminal
		return l.leave()
	case l.picking() || l.about.Replay || l.ended() && l.runs.unfinished() == 0:
		return tea.Suspend
	case l.lab == nil:
		l.soon = true
		l.changed()
		return nil
	case l.ended():
		return l.openQuit()
	}
	return l.detach()
}

// detach leaves the run training. The caller of Run hands it over to a process of its
// own, or notes that no screen watches it any more.
func (l *leaving) detach() tea.Cmd {
	switch {
	case l.about.Remote:
	case l.snap != nil && l.snap.Parked:
		l.tell("the run is parked: P takes the GPU again; or q s saves and stops it, and pgrlab train --resume goes on with it")
		return nil
	case l.runs.isSaving():
		l.tell("a fork is being made: leave when it is")
		return nil
	}
	return l.leave()
}
