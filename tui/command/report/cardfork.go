package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/report"
	"pgrlab/core/shell"
)

// repeatFork says how to repeat a run that began as a fork: its parent up to there, the fork, and what
// came after it.
func repeatFork(w io.Writer, r *report.Run, c config.Config) {
	parent, root, nested := r.Parent()
	parent, dir := filepath.Base(parent)+"-again", filepath.Base(r.Dir)+"-again"
	fmt.Fprint(w, "## Again\n\n")
	if nested {
		parent = strings.TrimSuffix(parent, "-again")
		fmt.Fprintf(w, "The run that it was forked off, %s, was a fork itself: `pgrlab card` says how to make that one again. Then:\n\n```\n", parent)
	} else {
		fmt.Fprintf(w, "```\n%s\n", trainTo(r, c, root, parent))
	}
	fork := fmt.Sprintf("pgrlab fork %s", shell.Word(parent+"@"+strconv.Itoa(r.ForkStep())))
	for _, change := range r.Changes {
		if !change.Forked || change.Position != r.Forked {
			continue
		}
		text := change.Knob + "=" + change.To
		if change.Now {
			text += "!"
		}
		fork += " --set " + shell.Word(text)
	}
	fmt.Fprintf(w, "%s --steps %d --seed %d --out %s\npgrlab train --resume %s\n```\n", fork, c.Steps, c.Seed, shell.Word(dir), shell.Word(dir))
	if at, err := knob.ParsePosition(r.Forked); err == nil && at.I > 0 {
		fmt.Fprintf(w, "\nThe fork was made at %s, within the work of an env step; these commands make it at its beginning or end.\n", r.Forked)
	}
	if after := byHandAround(r, false); len(after) > 0 {
		fmt.Fprintf(w, "\nAfter the fork these changes were made by hand, and are to be made by hand again: %s.\n", strings.Join(after, ", "))
	}
}

// trainTo is the command that makes the parent of a fork again, up to where it was forked.
func trainTo(r *report.Run, c config.Config, root uint64, out string) string {
	c.Seed = root
	step, keep := r.ForkStep(), ""
	if _, err := c.Longer(c.Steps + 1); err == nil {
		c.Steps = step
	} else { // rates follow the length of the run, so that a shorter one is another
		keep = fmt.Sprintf(" --set evaluation.keep_every=%d", step)
	}
	from, differences, err := origin(c)
	if err != nil {
		return "# " + err.Error()
	}
	line := commandLine(r.Dir, c, from, differences) + keep
	for _, at := range byHandAround(r, true) {
		line += " --at " + shell.Word(at)
	}
	return line + " --out " + shell.Word(out)
}

// byHandAround are the changes by hand before the fork, or after it.
func byHandAround(r *report.Run, before bool) (all []string) {
	at, err := knob.ParsePosition(r.Forked)
	if err != nil {
		return nil
	}
	for _, c := range r.ByHand() {
		p, err := knob.ParsePosition(c.Position)
		if err == nil && !c.Cancelled && p.Before(at) == before {
			all = append(all, c.String())
		}
	}
	return all
}
