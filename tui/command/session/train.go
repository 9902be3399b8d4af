package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/command/runflags"
	"pgrlab/tui/command/terminal"
)

// TrainCommand is train.
func TrainCommand(d cli.Deps) *cobra.Command {
	var r runflags.Flags
	var keep copies
	var handover, turns bool
	c := &cobra.Command{
		Use:   "train [flags]",
		Short: "train without a screen",
		Long: `Trains without a screen. Progress goes to stderr: on a terminal as one line that is
rewritten, elsewhere as a plain line now and then; evaluations, refits and knob changes
have lines of their own. The journal is in the run folder. Without flags it trains preset
demo.

The run is saved now and then (--checkpoint-every), at SIGUSR1 and SIGUSR2, before
changes that are made as it goes on, and at its end. --resume continues from
the last checkpoint as if there had been no break. With more --steps it continues beyond
the end of a run, as if the run had had those steps from the start.

Ctrl-C saves and ends with status 130, SIGTERM with 143; the same once more, one to five
seconds later, ends at once, and so does SIGQUIT (ctrl-\), with 131. A terminal that goes
away does not end the run. Ctrl-Z stops the run as it stops any program, until fg or
bg; on the screen, ctrl-z leaves the run training instead.`,
		Example: `  pgrlab train --task cheetah-run --method pgr-curiosity --scale cpu --seed 1
  pgrlab train --preset demo --steps 5000 --out /tmp/try
  pgrlab train --resume runs/2025-03-01-cheetah-run-pgr-curiosity-s1
  pgrlab train --resume runs/2025-03-01-cheetah-run-pgr-curiosity-s1 --steps 200k
  pgrlab train --preset demo --set ratio=0.25 --at 10000:guidance=3 --at 15000:relevance=td!
  pgrlab train --preset demo --set generator.width=512 --set agent.hidden=128,128`,
		Args: d.BareNames,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			var h *heir // the run that another process hands over; nil: none
			if handover {
				if h, err = newHeir(); err != nil {
					return cli.Usagef("--handover is what a lab starts its successor with: %v", err)
				}
				defer func() { h.settled(err) }()
			}
			var inTurns *forks.Turns
			if turns {
				if inTurns, err = forks.TurnsOfThis(); err != nil {
					return cli.Usagef("--%s is what a run starts its forks with: %v", forks.TurnsFlag, err)
				}
			}
			s, err := openRun(d, &r, time.Now(), h)
			if err != nil && handover {
				return err
			} else if turns && run.IsInUse(err) {
				return elsewhere{err}
			} else if err != nil {
				return orComplete(err, c.ErrOrStderr())
			}
			s.turns = inTurns
			if c.Flags().NFlag() == 0 {
				fmt.Fprintln(c.ErrOrStderr(), "no flags: this is preset demo; pgrlab train --help says how to choose")
			}
			if err := s.keep(keep); err != nil {
				return err
			}
			return s.headless(c.Context(), c.ErrOrStderr())
		},
	}
	r.Bind(c)
	keep.bind(c)
	c.Flags().BoolVar(&handover, "handover", false, "take the run over from the process that has it")
	c.Flags().BoolVar(&turns, forks.TurnsFlag, false, "train in turns with other forks, as the process that started this one grants them")
	for _, name := range []string{"handover", forks.TurnsFlag} {
		_ = c.Flags().MarkHidden(name) // the flag exists
	}
	return c
}

// headless runs a session to its end, with progress on w.
func (s *session) headless(parent context.Context, w io.Writer) error {
	say := make(chan string, 8)
	ctx, stop := terminal.StartWatch(parent, s.deps.Exit, s.hungUp, s.save, func(again string) { terminal.Offer(say, s.ending()+again) })
	defer stop()
	defer s.stopForks(ctx)()
	p := terminal.NewProgress(w)
	p.Say(fmt.Sprintf("%s on %s at scale %s, %s, in %s",
		s.config.Method, s.config.Task, s.config.Scale, Seeds(s.config.Seed, s.config.Members), s.folder.Dir()))
	s.report = func(text string) {
		say <- text
		if s.heir != nil {
			s.heir.send(handoverAnswer{Said: text})
		}
	}
	if s.resumption != nil {
		s.resumption.Say = s.report
	}
	if err := saying(p, say, func() error { return s.start(ctx, lab.FaultFail) }); err != nil {
		return err
	}
	if s.heir != nil {
		s.heir.settled(nil)
	}
	for _, text := range s.said {
		p.Say(text)
	}
	p.Skip(s.history)
	if s.turns != nil {
		go s.takeTurns()
	}
	s.follow(p, say)
	return s.leave(ctx, p)
}

// ending says what a signal does to the run.
func (s *session) ending() string {
	if s.live.Load() == nil {
		return "the run is still being set up: it ends when the part that is being made is ready"
	}
	return "saving and ending"
}

// saying calls do and writes meanwhile what is said.
func saying(p *terminal.Progress, say <-chan string, do func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = do()
	}()
	for more := true; more || len(say) > 0; {
		select {
		case text := <-say:
			p.Say(text)
		case <-done:
			more, done = false, nil
		}
	}
	return err
}

// follow writes progress until the run has ended.
func (s *session) follow(p *terminal.Progress, say <-chan string) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return
		case text := <-say:
			p.Say(text)
		case now := <-tick.C:
			p.Tick(s.lab, now)
		}
	}
}

// leave reports the end of a run.
func (s *session) leave(ctx context.Context, p *terminal.Progress) error {
	s.stopServing()
	p.Drain(s.lab)
	if s.uncopied != nil {
		p.Say(fmt.Sprintf("tensorboard: %v: the end of the run is not there", s.uncopied))
	}
	if s.unrecorded != nil {
		p.Say(s.unrecorded.Error())
	}
	var signal cli.Signalled
	var children []string
	if s.endChildren || errors.As(context.Cause(ctx), &signal) {
		children = s.forks.End()
	} else {
		children = s.forks.Release(s.process)
	}
	for _, text := range slices.Concat(s.whatIf.end(), s.summary(), children, s.itsForks()) {
		p.Say(text)
	}
	return s.result(ctx)
}

// stopForks stops the forks when a signal cancels ctx, until the function that it returns is called.
func (s *session) stopForks(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() {
		var signal cli.Signalled
		if errors.As(context.Cause(ctx), &signal) {
			s.forks.Stop()
		}
	})
}

// hungUp notes in the journal that no screen shows the run any more.
func (s *session) hungUp() {
	if l := s.live.Load(); l != nil {
		l.Send(event.Detach{By: "terminal", Reason: "hung up"}) // if the mailbox is full only the note is lost
	}
}

// save asks for a checkpoint.
func (s *session) save(by string) {
	if l := s.live.Load(); l != nil {
		l.Send(event.Checkpoint{By: by}) // lost if the mailbox is full; another signal asks again
	}
}
