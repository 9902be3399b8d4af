package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/shell"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/pane"
)

// LabCommand is pgrlab without a subcommand: a run on the screen.
func LabCommand(d cli.Deps) *cobra.Command {
	var r runflags.Flags
	var lines bool
	var keep copies
	c := &cobra.Command{
		Use:   "pgrlab [flags]",
		Short: "a terminal lab for prioritized generative replay",
		Long: `pgrlab trains agents with prioritized generative replay (PGR; Wang et al., ICLR
2025) and lets you steer them while they train. An agent collects transitions; a
diffusion model learns them, guided towards those that a relevance function F
finds interesting, and generates more; the agent learns from both. On the screen
you change F, the guidance ω and the synthetic ratio r, and watch what that does
to the return and to the share of dormant units.

Without flags it asks what to run. The cursor starts on preset demo, which has something
to show within minutes. Where TERM is dumb it cannot ask: --plain starts the demo.`,
		Example: `  pgrlab                                              choose what to run; enter starts the demo
  pgrlab --task cheetah-run --method pgr-curiosity --scale cpu
  pgrlab --preset demo --method sac                   the same without synthetic data
  pgrlab --preset demo --at 10000:relevance=td!       F changes by itself at step 10,000
  pgrlab train --preset demo                          without a screen`,
		Args: d.BareNames,
		RunE: func(c *cobra.Command, _ []string) error {
			if !lines && (!terminal.IsTerminal(c.InOrStdin()) || !terminal.IsTerminal(c.OutOrStdout())) {
				return cli.Usagef("needs a terminal: ssh -t, pgrlab train, or --plain")
			}
			if c.Flags().NFlag() == 0 {
				if os.Getenv("TERM") == "dumb" {
					return cli.Usagef("TERM is dumb, and without a screen nothing asks what to run: say it, as with --task, or start the demo with --plain")
				}
				return PickOnScreen(c.Context(), d, c.ErrOrStderr())
			}
			home, err := replay.SettingsHome(c.ErrOrStderr())
			if err != nil {
				return err
			}
			s, err := openRun(d, &r, time.Now(), nil)
			if err != nil {
				return orComplete(err, c.ErrOrStderr())
			}
			if err := s.keep(keep); err != nil {
				return err
			}
			s.home, s.lines = home, lines
			return s.onScreen(c.Context(), c.ErrOrStderr())
		},
	}
	r.Bind(c)
	keep.bind(c)
	c.Flags().BoolVar(&lines, "plain", false, "print lines instead of a screen, for screen readers and logs")
	return c
}

// onScreen shows a session on the terminal. If the run goes on after the screen has closed, it goes
// on in this process, without a screen.
func (s *session) onScreen(parent context.Context, w io.Writer) error {
	say := make(chan string, 8)
	ctx, stop := terminal.StartWatch(parent, s.deps.Exit, func() {}, s.save, func(again string) { terminal.Offer(say, s.ending()+again) }) // the screen handles hang-ups
	defer stop()
	defer s.stopForks(ctx)()
	begin := newBeginning(func() error { return s.start(ctx, lab.FaultPause) })
	defer s.onSuspend()()
	outcome, err := s.deps.Screen(ctx, s.options(begin))
	return s.afterScreen(ctx, begin, outcome, err, w, say)
}

// afterScreen continues a run whose screen has closed: in a process of its own, here without a
// screen, or to its end.
func (s *session) afterScreen(ctx context.Context, begin *beginning, outcome tui.Outcome, err error, w io.Writer, say <-chan string) error {
	s.viewer.Leave()
	s.signals = say
	p, begun := terminal.NewProgress(w), false
	startErr := saying(p, say, func() (err error) { // a start in progress may take long
		err, begun = begin.end()
		return err
	})
	if !begun || startErr != nil {
		if !begun {
			s.drop()
		}
		if err == nil {
			err = startErr
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		return err
	}
	p.Skip(len(s.lab.Events(0))) // the screen has shown these
	if state := s.lab.Snapshot().State; state == event.Finished || state == event.FailedState {
		<-s.ended // it comes at once: there is nothing to hand over
	}
	for err == nil && outcome == tui.Detached && !s.over() {
		pid, why := s.handOver(ctx, p.Say)
		if why == nil {
			s.goesOn(pid, p)
			for _, text := range slices.Concat(s.whatIf.end(), s.forks.Release(s.process), s.itsForks()) {
				p.Say(text)
			}
			return nil
		}
		if s.over() || ctx.Err() != nil {
			break
		}
		o := s.options(begin)
		o.Start = func() (pane.Lab, error) { return s.viewer.Lab(s.lab), nil } // the run has begun already
		o.Message = fmt.Sprintf("the run stays here: %s", cli.Line(why))
		outcome, err = s.deps.Screen(ctx, o)
		s.viewer.Leave()
		p.Skip(len(s.lab.Events(0)))
	}
	if err != nil {
		p.Say(cli.Line(err)) // the screen failed, but the run goes on
	}
	s.endChildren = outcome == tui.StopAllRequested
	if s.over() {
		return s.leave(ctx, p)
	}
	switch outcome {
	case tui.StopRequested, tui.StopAllRequested:
		p.Say("saving")
		_ = s.deliver(event.Stop{By: "screen"}) // it may have been too busy for that of the screen; a run that has ended needs none
	case tui.Cancelled:
		p.Say("saving")
	default:
		s.lab.Send(event.Detach{By: "screen", Reason: outcome.String()}) // if the mailbox is full only the note is lost
		p.Say(fmt.Sprintf("training goes on in %s; ctrl-c saves and ends it", s.folder.Dir()))
	}
	s.follow(p, say)
	return s.leave(ctx, p)
}

// goesOn says where a run goes on after its screen was left, and how to reach it.
func (s *session) goesOn(pid int, p *terminal.Progress) {
	snapshot, dir := s.lab.Snapshot(), rundir.Near(rundir.Absolute(s.folder.Dir()))
	how := "goes on"
	if snapshot.State == event.PausedState && !snapshot.Passing {
		how = "stays paused"
	}
	p.Say(fmt.Sprintf("%s on %s %s without this terminal (pid %d) after step %d of %d", s.config.Method, s.config.Task, how, pid, snapshot.Step, snapshot.Steps))
	p.Say("its screen: pgrlab attach " + shell.Word(dir))
	p.Say("to save and end it: pgrlab stop " + shell.Word(dir))
}

// over says whether the run has ended.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// options are the session's options for the screen.
func (s *session) options(begin *beginning) tui.Options {
	s.viewer = s.viewers.Join(terminal.Name())
	o := s.shown()
	o.Characters, o.Home, o.Plain, o.Viewer, o.Leave = terminal.Characters(), s.home, s.lines, s.viewer, s.leaving
	o.Start = func() (pane.Lab, error) {
		if err := begin.do(); err != nil {
			return nil, err
		}
		return s.viewer.Lab(s.lab), nil
	}
	return o
}
