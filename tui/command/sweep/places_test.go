package sweep

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/sweep"
	"pgrlab/core/sweep/slurm"
	"pgrlab/core/sweep/ssh"
)

// commands puts scripts into the path, by name.
func commands(t *testing.T, scripts map[string]string) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// onHost is an ssh that runs the script prog in place of this program.
const onHost = "for last; do :; done; eval \"set -- $last\"; shift 2; exec prog \"$@\" 2>&-\n"

// queues puts a Slurm into the path whose queue is a folder: a file for each array, whose element 0
// waits and is the only one.
func queues(t *testing.T) (queue string) {
	t.Helper()
	queue = t.TempDir()
	commands(t, map[string]string{
		"scontrol": "echo MaxArraySize = 9\n",
		"sbatch":   `for a; do case $a in --job-name=*) name=${a#*=};; esac; done; n=$(ls ` + queue + ` | wc -l); echo "0|PENDING|None||0|$name|" > ` + queue + `/$n; echo $n` + "\n",
		"squeue":   "cat " + queue + "/$4\n",
	})
	return queue
}

// Of two sweeps that begin at the same time one submits. The other has read what was submitted
// before that.
func TestTwoSweepsSubmitOnce(t *testing.T) {
	queue := queues(t)
	g := made(t)
	f := sweepFlags{out: filepath.Dir(g.Dir(g.Jobs[0])), threads: 1, runsPerJob: 2}
	how, err := f.how(g)
	if err != nil {
		t.Fatal(err)
	}
	var both []*cluster
	for range 2 {
		c, err := newCluster(g, f.out)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, c)
	}
	for _, c := range both {
		if err := c.submit(t.Context(), t.Context(), how, func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	if arrays, _ := filepath.Glob(queue + "/*"); len(arrays) != 1 || len(both[1].array.Submissions) != 1 {
		t.Errorf("submitted: %q, known: %+v", arrays, both[1].array.Submissions)
	}
}

// A job that a sweep left out stays out when what is missing is submitted again.
func TestRequeueLeavesOutWhatTheSweepDid(t *testing.T) {
	queue := queues(t)
	g := made(t)
	leavesOut(t, g, 1)
	f := sweepFlags{out: filepath.Dir(g.Dir(g.Jobs[0])), threads: 1, runsPerJob: 2}
	how, err := f.how(g)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCluster(g, f.out)
	if err == nil {
		err = c.submit(t.Context(), t.Context(), how, func(string) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(queue, "0"), nil, 0o644); err != nil { // its job leaves without a result
		t.Fatal(err)
	}
	_, all, err := placesOf(f.out, callFlags{})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if lines := all[0].lines(t.Context()); !slices.Equal(lines, []string{"0 of 2 done, 1 not needed, 1 not in the queue"}) {
		t.Errorf("%q", lines)
	}
	requeued(t, f.out)
	record, err := slurm.Open(g.Folder(), slurm.Run)
	if err != nil || len(record.Submissions) != 2 || !slices.Equal(record.Submissions[1].Jobs(), []int{0}) {
		t.Errorf("submitted: %+v, %v", record.Submissions, err)
	}
	// The view has seen the job fail, and now that it is done.
	ends(t, g, g.Jobs[0])
	var out strings.Builder
	if err := (&statusFlags{json: true, check: true}).status(t.Context(), f.out, &out); err != nil || !strings.Contains(out.String(), `"state": "not needed"`) {
		t.Errorf("%v: %s", err, &out)
	}
	if lines := all[0].lines(t.Context()); !slices.Equal(lines, []string{"1 of 2 done, 1 not needed"}) {
		t.Errorf("%q", lines)
	}
}

// leavesOut makes one job of a sweep a job that is not needed.
func leavesOut(t *testing.T, g *sweep.Grid, index int) {
	t.Helper()
	g.NeedOnly(func(j sweep.Job) bool { return j.Index != index })
	if err := g.KeepNeeded(); err != nil {
		t.Fatal(err)
	}
}

// requeued calls the command for a sweep.
func requeued(t *testing.T, dir string) {
	t.Helper()
	c := requeueCommand()
	c.SetArgs([]string{dir})
	c.SetErr(io.Discard)
	if err := c.ExecuteContext(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// Workers that are started again on hosts leave out what those before them did.
func TestHostsBeginAgainWithTheSameJobs(t *testing.T) {
	build, err := buildSum()
	if err != nil {
		t.Fatal(err)
	}
	called := filepath.Join(t.TempDir(), "called")
	commands(t, map[string]string{
		"ssh":  onHost,
		"prog": `[ $4 = --look ] && printf '{"text":"%s","build":"` + build + `"}' $(cat $3/workers/$5) || echo "$@" >> ` + called + "\n",
	})
	g := made(t)
	leavesOut(t, g, 1)
	dir := filepath.Dir(g.Dir(g.Jobs[0]))
	record := ssh.Record{Hosts: []ssh.Host{{Name: "a"}}}
	if err := newHosts(g, dir, record, nil).begin(t.Context(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	requeued(t, dir)
	text, err := os.ReadFile(called)
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != 2 || lines[0] != lines[1] {
		t.Errorf("%q, %v", lines, err)
	}
	if left := leftOut(t, g); !slices.Equal(left, []int{1}) {
		t.Errorf("left out are %v", left)
	}
}

// Of two commands that begin on hosts at the same moment one says that the other is at it, and the record
// loses the hosts of neither.
func TestTwoSweepsBeginOnHosts(t *testing.T) {
	build, err := buildSum()
	if err != nil {
		t.Fatal(err)
	}
	in := t.TempDir()
	var pipes []*os.File // through which the first look says that it is there, and waits for the word to continue
	for _, name := range []string{"there", "go"} {
		if err := syscall.Mkfifo(filepath.Join(in, name), 0o600); err != nil {
			t.Fatal(err)
		}
		pipe, err := os.OpenFile(filepath.Join(in, name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer pipe.Close()
		pipes = append(pipes, pipe)
	}
	commands(t, map[string]string{
		"ssh":  onHost,
		"prog": `[ $4 = --look ] && { mkdir ` + in + `/first && { echo > ` + in + `/there; read line < ` + in + `/go; }; printf '{"text":"%s","build":"` + build + `"}' $(cat $3/workers/$5); }; exit 0` + "\n",
	})
	g := made(t)
	dir := filepath.Dir(g.Dir(g.Jobs[0]))
	for _, name := range []string{"a", "b"} {
		w, err := g.Register(sweep.Worker{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		w.Keep(&sweep.Engine{Grid: g})
		defer w.End(nil, "done")
	}
	begin := func(host string) error {
		return newHosts(g, dir, ssh.Record{Hosts: []ssh.Host{{Name: host}}}, nil).begin(t.Context(), func(string) {})
	}
	ended := make(chan error)
	go func() { ended <- begin("a") }()
	if _, err := pipes[0].Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := begin("b"); err == nil || err.Error() != "another sweep begins on hosts just now: try again" {
		t.Errorf("meanwhile: %v", err)
	}
	if _, err := pipes[1].WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-ended, begin("b")); err != nil {
		t.Fatal(err)
	}
	if record, err := ssh.Open(g.Folder()); err != nil || len(record.All()) != 2 {
		t.Errorf("the record has %+v, %v", record.All(), err)
	}
}

// A host that a later command leaves out is still asked to end while its worker is at work.
func TestHostsThatAreLeftOutAreAskedToEnd(t *testing.T) {
	build, err := buildSum()
	if err != nil {
		t.Fatal(err)
	}
	called := filepath.Join(t.TempDir(), "called")
	commands(t, map[string]string{
		"ssh":  onHost,
		"prog": `[ $4 = --look ] && printf '{"text":"%s","build":"` + build + `"}' $(cat $3/workers/$5) && exit; [ $6 = --end ] && echo $5 $6 >> ` + called + "; echo signalled\n",
	})
	g := made(t)
	dir := filepath.Dir(g.Dir(g.Jobs[0]))
	for _, name := range []string{"a", "b", "c"} {
		w, err := g.Register(sweep.Worker{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		w.Keep(&sweep.Engine{Grid: g})
		if name == "c" {
			w.End(nil, "done")
		} else {
			defer w.End(nil, "done")
		}
	}
	for _, names := range [][]string{{"a", "b", "c"}, {"a"}, {"a"}} {
		var record ssh.Record
		for _, name := range names {
			record.Hosts = append(record.Hosts, ssh.Host{Name: name})
		}
		if err := newHosts(g, dir, record, nil).begin(t.Context(), func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	record, err := ssh.Open(g.Folder())
	if err != nil || len(record.Hosts) != 1 || len(record.Former) != 1 {
		t.Fatalf("%+v, %v", record, err)
	}
	w := &workers{grid: g, out: dir, record: record}
	if _, err := w.cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(called); err != nil || string(text) != "a --end\nb --end\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// A signal that reaches no worker is an error and nothing else; one that reaches some says how many.
func TestWorkersThatGetNoSignal(t *testing.T) {
	commands(t, map[string]string{"ssh": "for last; do :; done; case \"$last\" in *good*) echo " + signalled + ";; *) exit 255;; esac\n"})
	for _, c := range []struct {
		hosts []string
		says  string
		fails bool
	}{
		{[]string{"bad"}, "", true},
		{[]string{"bad", "good"}, "1 worker saves its jobs and ends", true},
		{[]string{"good"}, "1 worker saves its jobs and ends", false},
	} {
		w := &workers{grid: made(t)}
		for _, name := range c.hosts {
			r, err := w.grid.Register(sweep.Worker{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			r.Keep(&sweep.Engine{Grid: w.grid})
			defer r.End(nil, "done")
			w.record.Hosts = append(w.record.Hosts, ssh.Host{Name: name})
		}
		said, err := w.cancel(t.Context())
		if (err != nil) != c.fails || (said == "") != (c.says == "") || !strings.HasPrefix(said, c.says) {
			t.Errorf("%q: %q, %v", c.hosts, said, err)
		}
	}
}
