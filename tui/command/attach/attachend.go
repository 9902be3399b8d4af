package attach

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"pgrlab/core/report"
	"pgrlab/core/shell"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/replay"
	"pgrlab/tui/command/session"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/history"
)

// showEnd shows the end of a run that a person was attached to until the person leaves, and then
// does what the person wants next.
func showEnd(c *cobra.Command, d cli.Deps, dir string) error {
	o, err := end(d, dir, "the run has ended: q asks what next")
	if err != nil {
		return err
	}
	if o.Home, err = replay.SettingsHome(c.ErrOrStderr()); err != nil {
		return err
	}
	o.Characters = terminal.Characters()
	outcome, err := d.Screen(c.Context(), o)
	if err != nil {
		return err
	}
	if err := afterEnd(dir, c.ErrOrStderr()); err != nil {
		return err
	}
	switch outcome {
	case tui.ReportRequested:
		sub, _, err := c.Root().Find([]string{"report"})
		if err != nil {
			return err
		}
		sub.SetContext(c.Context())
		return sub.RunE(sub, []string{dir})
	case tui.FirstScreenRequested:
		return session.PickOnScreen(c.Context(), d, c.ErrOrStderr())
	}
	return nil
}

// end describes the end of a run to the screen; message stands at the foot of it.
func end(d cli.Deps, dir, message string) (tui.Options, error) {
	o, err := replay.AtEnd(d, dir)
	o.Ended, o.Message = true, message
	return o, err
}

// afterEnd says what a finished run has reached, and what can be done with it.
func afterEnd(dir string, w io.Writer) error {
	r, err := report.Load(dir)
	if err != nil {
		return err
	}
	events, err := history.ReadJournal(dir)
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s on %s, %s: %s steps", r.Method, r.Task, session.Seeds(r.Seed, len(r.Members)), report.Count(r.Step)) + session.Reached(events)
	next := replay.Again(dir, events)
	if !r.Done {
		next = "go on: pgrlab --resume " + shell.Word(dir)
	}
	for _, text := range []string{said, session.Badge(events), "look again: pgrlab replay " + shell.Word(dir), "its report: pgrlab report " + shell.Word(dir), next} {
		fmt.Fprintln(w, text)
	}
	return nil
}
