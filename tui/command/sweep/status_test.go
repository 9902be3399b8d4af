package sweep

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/sweep"
	"pgrlab/tui/command/cli"
)

// attempted makes an attempt at a job that ends in some way; without one it is killed.
func attempted(t *testing.T, g *sweep.Grid, j sweep.Job, end *sweep.Ending) {
	t.Helper()
	a, err := g.Begin(j)
	if err != nil {
		t.Fatal(err)
	}
	if end == nil {
		end = &sweep.Ending{}
		defer os.Remove(filepath.Join(g.Dir(j), "attempts", "1", "attempt.json"))
	}
	if err := a.End(*end); err != nil {
		t.Fatal(err)
	}
}

// A sweep that has ended says which of its jobs failed, at which step and why, and what helps: in lines,
// in JSON, and in the exit status if asked to.
func TestTheStatusOfASweepThatHasEnded(t *testing.T) {
	diverged := &sweep.Ending{How: "the critic diverged", Status: 1, Step: 841, Diverged: true}
	broken := &sweep.Ending{How: "the disk is full", Status: 1}
	again := &sweep.Ending{How: "saved", Status: sweep.StatusAgain}
	for _, c := range []struct {
		ends   []*sweep.Ending
		done   bool     // of the second job
		says   []string // lines
		states string
		status int
	}{
		{nil, false, []string{"0 of 2 done"}, "missing missing", 85},
		{[]*sweep.Ending{diverged}, true, []string{"failed: step 841: the critic diverged", "1 of 2 done, 1 failed", "their numbers diverged, and with the same settings and seeds that happens again"}, "failed done", 1},
		{[]*sweep.Ending{diverged, broken}, false, []string{"failed: step 841", "failed: the disk is full", "0 of 2 done, 2 failed", "1 of them diverged", "for the others: pgrlab sweep --out"}, "failed failed", 1},
		{[]*sweep.Ending{broken}, false, []string{"failed: the disk is full", "0 of 2 done, 1 failed", "tries them again"}, "failed missing", 1},
		{[]*sweep.Ending{again}, true, []string{"1 of 2 done"}, "missing done", 85},
		{[]*sweep.Ending{nil}, true, []string{"attempt 1 was killed; it goes on where it was saved", "1 of 2 done"}, "missing done", 85},
	} {
		g := made(t)
		dir := filepath.Dir(g.Dir(g.Jobs[0]))
		for i, e := range c.ends {
			attempted(t, g, g.Jobs[i], e)
		}
		if c.done {
			ends(t, g, g.Jobs[1])
		}
		var out bytes.Buffer
		if err := (&statusFlags{}).status(t.Context(), dir, &out); err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) < len(c.says)-1 || len(lines) > len(c.says) {
			t.Errorf("%q, want %q", lines, c.says)
		}
		for _, want := range c.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: want %q", out.String(), want)
			}
		}
		out.Reset()
		err := (&statusFlags{json: true, check: true}).status(t.Context(), dir, &out)
		if status := cli.ExitStatus(err); status != c.status {
			t.Errorf("%s: status %d, want %d", c.states, status, c.status)
		}
		var s standing
		if err := json.Unmarshal(out.Bytes(), &s); err != nil || len(s.Jobs) != 2 || s.Jobs[0].State+" "+s.Jobs[1].State != c.states || s.Jobs[0].Name != g.Jobs[0].Name() {
			t.Errorf("%v: %s, want %s", err, out.String(), c.states)
		}
	}
}

// What is asked of a sweep that has ended is answered with what helps.
func TestNothingIsRequeuedWithoutASweep(t *testing.T) {
	for want, end := range map[string]*sweep.Ending{
		"goes on with what is missing":                 {How: "saved", Status: sweep.StatusAgain},
		"1 of its jobs failed: their numbers diverged": {Status: 1, Diverged: true},
		"1 of its jobs failed: pgrlab sweep --out ":    {Status: 1},
		" tries them again":                            {Status: 1},
	} {
		g := made(t)
		attempted(t, g, g.Jobs[0], end)
		c := requeueCommand()
		c.SetArgs([]string{filepath.Dir(g.Dir(g.Jobs[0]))})
		c.SilenceUsage, c.SilenceErrors = true, true
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
