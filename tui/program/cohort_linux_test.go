package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/remote"
)

// aboutMember returns the lines of a run's canonical journal about one member. For a run of one
// seed, member is −1, and the lines are those that a cohort writes for each member.
func aboutMember(t *testing.T, dir string, member int) string {
	t.Helper()
	var out strings.Builder
	for text := range strings.Lines(canonical(t, dir)) {
		var l map[string]any
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		switch l["type"] {
		case "start", "knob", "in_force", "note", "done":
			continue // these lines are about the whole run
		}
		if of, has := l["member"]; has != (member >= 0) {
			t.Fatalf("member %v in %s", of, text)
		} else if has && of != float64(member) {
			continue
		}
		delete(l, "member")
		fmt.Fprintln(&out, l)
	}
	return out.String()
}

// Each member of a cohort is the same as the single run of its seed, with knobs that turn at given
// steps; so is each member of a fork of the cohort.
func TestCohortsAndTheirForksAreSingleRuns(t *testing.T) {
	if !soaking() {
		t.Skip("package lab compares cohorts of the smallest parts with single runs: PGRLAB_SOAK=1")
	}
	d := setUp(t)
	does := func(args ...string) {
		t.Helper()
		var stderr bytes.Buffer
		if status, _ := pgrlab(t, d, &stderr, args...); status != cli.StatusDone {
			t.Fatalf("%v: status %d: %s", args, status, stderr.String())
		}
	}
	train := func(dir string, seed, members int) {
		t.Helper()
		how := []string{"train", "--preset", "tiny.toml", "--seed", fmt.Sprint(seed), "--members", fmt.Sprint(members), "--out"}
		does(append(how, dir, "--at", "60/fit:8:guidance=3!", "--at", "100:ratio=0.25", "--at", "120/generate:3:relevance=td!")...)
		does(append(how, dir+"-half", "--steps", "75")...) // with a checkpoint at its end
		does("fork", dir+"-half", "--set", "guidance=5!", "--steps", "150", "--out", dir+"-fork")
		does("train", "--resume", dir+"-fork")
	}
	for i := range 4 {
		train(fmt.Sprintf("single-%d", i), 20+i, 1)
	}
	for k := 2; k <= 4; k++ {
		cohort := fmt.Sprintf("cohort-%d", k)
		train(cohort, 20, k)
		for i := range k {
			for _, kind := range []string{"", "-fork"} {
				got, want := aboutMember(t, cohort+kind, i), aboutMember(t, fmt.Sprintf("single-%d%s", i, kind), -1)
				if got != want || strings.Count(got, "\n") < 8 {
					t.Errorf("member %d of %s%s writes\n%s\nby itself\n%s", i, cohort, kind, got, want)
				}
			}
		}
	}
}

// A cohort that trains is looked at, queried and stopped as one run, and ends like an undisturbed
// one. No two of its forks share a seed.
func TestACohortIsAttachedTo(t *testing.T) {
	d := setUp(t)
	private(t)
	run, said := child(t, "train", "--preset", "tiny.toml", "--members", "2", "--seed", "20", "--steps", "100000", "--out", "cohort")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer run.Process.Kill()
	eventually(t, "it trains", func() bool { return stepOf(t, "cohort") > 0 })
	p := sitDown(t, nil, "attach", "cohort")
	p.await("RETURN")
	p.press("q", "leave it training")
	p.press("d", "detached at step")
	socket, err := remote.Find("cohort")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"pause", "checkpoint", "resume", "stop"} {
		if _, err := remote.Ask(t.Context(), socket, "cohort", want, "test"); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := run.Wait(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if all, _ := filepath.Glob("cohort/checkpoints/*.ckpt"); len(all) == 0 {
		t.Error("nothing is saved")
	}
	for i := range 2 {
		if aboutMember(t, "cohort", i) == "" {
			t.Errorf("nothing is written of member %d", i)
		}
	}
	status, forks := pgrlab(t, d, os.Stderr, "fork", "cohort", "--set", "guidance=3", "--pairs", "2", "--out", "pair")
	names := strings.Fields(strings.NewReplacer("pair-changed-", "", "pair-control-", "").Replace(forks))
	if want := "[s22 s24 s26 s28]"; status != cli.StatusDone || fmt.Sprint(names) != want || strings.Count(forks, "changed") != 2 {
		t.Errorf("forks of a cohort of two: status %d, %q, want %s, two of them changed", status, forks, want)
	}
}
