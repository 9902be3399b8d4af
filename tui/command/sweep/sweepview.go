package sweep

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pgrlab/core/sweep"
	"pgrlab/tui/command/terminal"
	"pgrlab/tui/remote"
)

// sweepView shows the progress of a sweep.
type sweepView struct {
	engine   *sweep.Engine
	progress *terminal.Progress
}

// follow shows the sweep until it has ended.
func (v *sweepView) follow(ctx context.Context, say <-chan string, ended <-chan error) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case text := <-say:
			v.progress.Say(text)
		case now := <-tick.C:
			if v.progress.Due(now) {
				v.progress.RewriteAll(v.lines(ctx))
			}
		case err := <-ended:
			for len(say) > 0 {
				v.progress.Say(<-say)
			}
			v.progress.Say(v.summary(v.engine.States()))
			return err
		}
	}
}

// lines are a line for each job in progress, and the summary.
func (v *sweepView) lines(ctx context.Context) []string {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	g, states := v.engine.Grid, v.engine.States()
	running := map[int]sweep.Pace{}
	var all []string
	for i, state := range states {
		j := g.Jobs[i]
		switch state {
		case sweep.Failed, sweep.Stopped: // not tried again
			running[i] = sweep.Pace{Step: j.Steps}
		case sweep.Elsewhere:
			all = append(all, fmt.Sprintf("%s  another process works at it", j.Name()))
		case sweep.Running:
			text := "starting"
			if s, err := remote.Look(ctx, g.Run(j)); err == nil {
				running[i] = sweep.Pace{Step: s.Step, Left: time.Duration(s.ETAS * float64(time.Second))}
				text = fmt.Sprintf("%s %3d%%  %s", bar(s.Step, s.Steps, 20), 100*s.Step/max(1, s.Steps), s.Phase)
				if s.State == "paused" {
					text = fmt.Sprintf("%s %3d%%  paused", bar(s.Step, s.Steps, 20), 100*s.Step/max(1, s.Steps))
				}
				if s.StepsPerS > 0 {
					text += fmt.Sprintf("  %.0f steps/s", s.StepsPerS)
				}
				if s.Return != nil {
					text += fmt.Sprintf("  return %.1f", *s.Return)
				}
			}
			all = append(all, j.Name()+"  "+text)
		}
	}
	last := v.summary(states)
	if eta := g.ETA(v.engine.Workers, running); eta > 0 {
		last += ", eta " + terminal.Clock(eta)
	}
	return append(all, last)
}

// summary counts the jobs.
func (v *sweepView) summary(states []sweep.State) string {
	count := map[sweep.State]int{}
	for _, s := range states {
		count[s]++
	}
	text := fmt.Sprintf("%d of %d done", count[sweep.Done], len(v.engine.Grid.Jobs))
	for _, k := range []struct {
		state sweep.State
		name  string
	}{{sweep.Running, "running"}, {sweep.Elsewhere, "elsewhere"}, {sweep.Waiting, "waiting"}, {sweep.Left, "not needed"}, {sweep.Failed, "failed"}, {sweep.Stopped, "stopped"}} {
		if count[k.state] > 0 {
			text += fmt.Sprintf(", %d %s", count[k.state], k.name)
		}
	}
	return text
}

// bar draws a share with characters that every terminal has.
func bar(done, all, w int) string {
	n := min(w, w*done/max(1, all))
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", w-n) + "]"
}
