package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// This was recorded from Slurm 22.05: an array whose elements run, wait, have ended and were
// requeued, and a job that belongs to no array.
const recorded = "0|COMPLETED|None|n1|0|pgrlab-RVWVYFX2YM|\n1|RUNNING|None|n2|2|pgrlab-RVWVYFX2YM|\n2|PENDING|BeginTime||1|pgrlab-RVWVYFX2YM|\n3|PENDING|Resources||0|pgrlab-RVWVYFX2YM|\nN/A|RUNNING|None|n1|0|other|\n"

func TestTheQueueIsRead(t *testing.T) {
	all, err := parseQueue(recorded)
	if err != nil {
		t.Fatal(err)
	}
	want := []Element{
		{"", 0, "pgrlab-RVWVYFX2YM", "COMPLETED", "", "n1", 0}, {"", 1, "pgrlab-RVWVYFX2YM", "RUNNING", "", "n2", 2},
		{"", 2, "pgrlab-RVWVYFX2YM", "PENDING", "BeginTime", "", 1}, {"", 3, "pgrlab-RVWVYFX2YM", "PENDING", "Resources", "", 0},
	}
	if !slices.Equal(all, want) {
		t.Errorf("%+v, want %+v", all, want)
	}
	if !all[0].Ended() || all[1].Ended() || all[2].Ended() || (Element{State: "COMPLETING"}).Ended() || (Element{State: "SOMETHING_NEW"}).Ended() {
		t.Error("only what has ended has ended")
	}
	if all, err := parseQueue("\n"); err != nil || all != nil {
		t.Errorf("nothing is %v, %v", all, err)
	}
	if _, err := parseQueue("slurm_load_jobs error: something\n"); err == nil || !strings.Contains(err.Error(), "squeue: printed") {
		t.Errorf("an error is a queue: %v", err)
	}
}

func TestIndexesAreWrittenAsSlurmNeedsThem(t *testing.T) {
	for want, all := range map[string][]int{"0": {0}, "0-3": {0, 1, 2, 3}, "0,2": {0, 2}, "1-2,5,7-9": {1, 2, 5, 7, 8, 9}, "": nil} {
		if got := Indexes(all); got != want {
			t.Errorf("%v are %q, want %q", all, got, want)
		}
	}
}

// cluster answers as Slurm does.
type cluster struct {
	t       *testing.T
	largest string
	queue   map[string]string // by array
	down    bool
	calls   [][]string
	scripts []string
	next    int
}

func (c *cluster) run(_ context.Context, input []byte, name string, args ...string) (string, error) {
	c.calls = append(c.calls, append([]string{name}, args...))
	if c.down {
		return "", errors.New("squeue: Unable to contact slurm controller (connect failure)")
	}
	switch name {
	case "sbatch":
		c.scripts = append(c.scripts, string(input))
		c.next++
		return "warning of this site\n" + []string{"", "71", "72;cluster", "73"}[c.next] + "\n", nil
	case "scontrol":
		return "Configuration data as of 2025-01-01\nMaxArraySize            = " + c.largest + "\nMaxJobCount             = 10000\n", nil
	case "squeue":
		id := args[slices.Index(args, "-j")+1]
		text, known := c.queue[id]
		if !known {
			return "", errors.New("squeue: Invalid job id specified")
		}
		return text, nil
	}
	return "", nil
}

func opened(t *testing.T, dir string) *run.Handle {
	t.Helper()
	h, err := run.OpenHandle(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// Jobs are submitted in arrays no larger than the cluster accepts; the record lists all that was
// submitted, and is found again.
func TestLargeSweepsAreSeveralArrays(t *testing.T) {
	c := &cluster{t: t, largest: "2"}
	dir := t.TempDir()
	a, err := Open(opened(t, dir), c.run)
	if err != nil {
		t.Fatal(err)
	}
	s := Script{Program: "/opt/it's/pgrlab", Dir: "/data/a%j b", Flags: []string{"--threads", "2"}}
	if err := a.Submit(t.Context(), How{Script: s, Beside: 2, Options: []string{"--partition=gpu"}}, []int{0, 1, 3, 4, 9}); err != nil {
		t.Fatal(err)
	}
	var arrays []string
	for _, call := range c.calls {
		if call[0] == "sbatch" {
			arrays = append(arrays, call[2])
			if call[len(call)-1] != "--partition=gpu" || !slices.Contains(call, "--requeue") || !slices.Contains(call, "--signal=B:USR2@120") || !slices.Contains(call, "--output=/data/a%%j b/slurm-%A_%a.log") {
				t.Errorf("%q", call)
			}
		}
	}
	if want := []string{"--array=0-1%2", "--array=0-1%2", "--array=0-0%2"}; !slices.Equal(arrays, want) {
		t.Errorf("%q, want %q", arrays, want)
	}
	if want := "#!/bin/bash\njobs=(\n'3'\n'4'\n)\nexec '/opt/it'\\''s/pgrlab' sweep job '/data/a%j b' ${jobs[SLURM_ARRAY_TASK_ID]} --requeue --threads 2\n"; c.scripts[1] != want {
		t.Errorf("%s, want %s", c.scripts[1], want)
	}
	for i := range a.Submissions {
		a.Submissions[i].How.Script.Program, a.Submissions[i].How.Script.Dir = "", "" // not taken from the folder
	}
	again, err := Open(opened(t, dir), c.run)
	if err != nil || len(again.Submissions) != 3 || again.Submissions[1].ID != "72" || !reflect.DeepEqual(again.Submissions, a.Submissions) {
		t.Errorf("%v: %+v", err, again.Submissions)
	}
}

// Queued jobs are recognised by number and name, because a controller that has lost its state
// reuses numbers. An array unknown to Slurm has nothing queued; a controller that does not answer
// says nothing about the queue.
func TestWhatIsQueued(t *testing.T) {
	c := &cluster{t: t, largest: "1001", queue: map[string]string{}}
	a, err := Open(opened(t, t.TempDir()), c.run)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Submit(t.Context(), How{Script: Script{Program: "p", Dir: "d"}}, []int{5, 6, 8}); err != nil {
		t.Fatal(err)
	}
	if queued, err := a.Queued(t.Context()); err != nil || len(queued) != 0 {
		t.Errorf("forgotten: %v, %v", queued, err)
	}
	name := a.Submissions[0].Name
	c.queue["71"] = strings.ReplaceAll("0|RUNNING|None|n1|0|NAME|\n1|FAILED|NonZeroExitCode|n1|0|NAME|\n2|PENDING|Priority||0|NAME|\n", "NAME", name)
	queued, err := a.Queued(t.Context())
	if err != nil || len(queued) != 2 || queued[5].Node != "n1" || queued[5].ID != "71_0" || queued[8].State != "PENDING" {
		t.Errorf("%v, %v", queued, err)
	}
	if err := a.Cancel(t.Context(), queued); err != nil {
		t.Error(err)
	}
	if last := c.calls[len(c.calls)-1]; !slices.Equal(last, []string{"scancel", "71_[0,2]"}) {
		t.Errorf("%q", last)
	}
	if err := a.Release(t.Context(), queued); err != nil || !slices.Equal(c.calls[len(c.calls)-1], []string{"scontrol", "release", "71_[0,2]"}) {
		t.Errorf("%v: %q", err, c.calls[len(c.calls)-1])
	}
	c.queue["71"] = strings.ReplaceAll(c.queue["71"], name, "of another")
	if queued, err := a.Queued(t.Context()); err != nil || len(queued) != 0 {
		t.Errorf("another's job counts: %v, %v", queued, err)
	}
	c.down = true
	if _, err := a.Queued(t.Context()); err == nil {
		t.Error("no answer is an empty queue")
	}
}

// Several jobs of one element are in its state and end with it; each command names the element
// once.
func TestElementsOfSeveralJobs(t *testing.T) {
	c := &cluster{t: t, largest: "1001", queue: map[string]string{}}
	a, err := Open(opened(t, t.TempDir()), c.run)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Submit(t.Context(), How{Script: Script{Program: "p", Dir: "d"}, Runs: 2}, []int{1, 4, 5, 6, 9}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(c.calls[1], "--array=0-2") || !strings.Contains(c.scripts[0], "jobs=(\n'1 4'\n'5 6'\n'9'\n)\n") {
		t.Errorf("%q: %s", c.calls[1], c.scripts[0])
	}
	name := a.Submissions[0].Name
	c.queue["71"] = strings.ReplaceAll("0|RUNNING|None|n1|0|NAME|\n1|COMPLETED|None|n1|0|NAME|\n2|PENDING|Priority||0|NAME|\n3|PENDING|None||0|NAME|\n", "NAME", name)
	queued, err := a.Queued(t.Context())
	if err != nil || len(queued) != 3 || queued[1] != queued[4] || queued[9].State != "PENDING" {
		t.Errorf("%v, %v", queued, err)
	}
	if err := a.Cancel(t.Context(), queued); err != nil || !slices.Equal(c.calls[len(c.calls)-1], []string{"scancel", "71_[0,2]"}) {
		t.Errorf("%v: %q", err, c.calls[len(c.calls)-1])
	}
}

// Input that makes no sense gives an error of one line and changes nothing.
func TestRefusals(t *testing.T) {
	for _, largest := range []string{"0", "many", ""} {
		c := &cluster{t: t, largest: largest}
		a, _ := Open(opened(t, t.TempDir()), c.run)
		if err := a.Submit(t.Context(), How{}, []int{0}); err == nil || !strings.Contains(err.Error(), "MaxArraySize") || len(c.scripts) > 0 {
			t.Errorf("%q: %v", largest, err)
		}
	}
	if _, err := Submit(t.Context(), func(context.Context, []byte, string, ...string) (string, error) { return "queued!\n", nil }, nil, "0", nil); err == nil {
		t.Error("words are a number")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "slurm.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(opened(t, dir), nil); err == nil || !strings.Contains(err.Error(), "slurm.json") {
		t.Errorf("a damaged record: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Run(t.Context(), nil, "sbatch"); err == nil || !strings.Contains(err.Error(), "is this a login node") {
		t.Errorf("no Slurm: %v", err)
	}
}

// Held recognises only jobs that Slurm holds because they could not start, not those that a person
// holds.
func TestHeld(t *testing.T) {
	for reason, want := range map[string]bool{"launch failed requeued held": true, "launch_failed_requeued_held": true, "JobHeldUser": false, "Priority": false, "": false} {
		if (Element{State: "PENDING", Reason: reason}).Held() != want {
			t.Errorf("%q: %v", reason, !want)
		}
	}
}
