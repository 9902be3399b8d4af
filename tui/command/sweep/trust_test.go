package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"pgrlab/core/run"
	"pgrlab/core/sweep"
	"pgrlab/core/sweep/slurm"
)

// hostile are contents of the files of a sweep's folder. HERE is this machine, BAIT what must not become
// part of a command, PID a process that must not be signalled, SELF the identity of that process except
// for its end.
var hostile = []struct{ file, text string }{
	{"ssh.json", `{"hosts":[{"name":"localhost","jobs":1}],"options":["-oProxyCommand=BAIT"],"program":"/bin/sh","dir":"/tmp"}`},
	{"ssh.json", `{"hosts":[{"name":"localhost"}],"program":"BAIT","dir":"/tmp"}`},
	{"ssh.json", `{"hosts":[{"name":"localhost"}],"dir":"BAIT"}`},
	{"ssh.json", `{"hosts":[{"name":"-oProxyCommand=BAIT"}]}`},
	{"ssh.json", `{"former":[{"name":"-oProxyCommand=BAIT"}]}`},
	{"ssh.json", `{"hosts":[{"name":"BAIT BAIT"}]}`},
	{"ssh.json", `{"hosts":[{"name":"../BAIT"}]}`},
	{"ssh.json", `{"hosts":[{"name":"localhost"}],"flags":["--name","BAIT"]}`},
	{"ssh.json", `{"hosts":[{"name":"localhost"}],"flags":["--device","BAIT"]}`},
	{"ssh.json", `{"hosts":[{"name":"localhost"}],"flags":["--disk"]}`},
	{"ssh.json", `{"hosts":[{"name":"localhost"}],"left":[99]}`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","how":{"script":{"program":"BAIT","dir":"BAIT"}}}]`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","how":{"script":{"flags":["--BAIT"]}}}]`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","how":{"options":["--uid=BAIT"]}}]`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","how":{"options":["--time=1:00","--output=BAIT"]}}]`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","how":{"options":["--partition=/BAIT"]}}]`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","how":{"options":["--time=$(BAIT)"]}}]`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","how":{"options":["--mem=1\\n--wrap=BAIT"]}}]`},
	{"slurm.json", `[{"id":"--BAIT","name":"pgrlab-AAAAAAAAAA"}]`},
	{"slurm.json", `[{"id":"7","name":"BAIT"}]`},
	{"slurm.json", `[{"id":"7","name":"pgrlab-AAAAAAAAAA","elements":[[0,1,-5,99]],"how":{"left":[99]}}]`},
	{"workers/w/worker.json", `{"name":"w","host":"HERE","pid":PID,"jobs":1,"beats":3,"running":[0]}`},
	{"workers/w/worker.json", `{"name":"../w","host":"HERE","pid":-1,"beats":3}`},
	{"workers/w/worker.json", `{"name":"w","host":"HERE","pid":0,"beats":3}`},
	{"workers/w/worker.json", `{"name":"w",SELF,"start":1}`},
	{"workers/w/worker.json", `{"name":"w",SELF,"boot":"other"}`},
	{"workers/w/worker.json", `{"name":"w",SELF,"space":"pid:[1]"}`},
	{"workers/w/worker.json", `{"name":"w",SELF,"host":"BAIT","running":[0]}`},
	{"workers/requeue.json", `{"asked":"BAIT"}`},
	{"grid.json", `{"version":1,"jobs":[{"index":0,"task":"x/../../BAIT/y","method":"m","steps":9}]}`},
	{"grid.json", `{"version":1,"jobs":[{"index":0,"task":"t","method":"../BAIT","steps":9}]}`},
	{"grid.json", `{"version":1,"jobs":[{"index":0,"task":"t","method":"m\u001b]0;BAIT","steps":9}]}`},
	{"grid.json", `{"version":1,"jobs":[{"index":0,"task":"t","method":"m","steps":9,"variant":"../../BAIT"}]}`},
}

// Whatever a sweep's folder says, it puts no word of its own into a command, and no process gets a
// signal but the worker that wrote down its own identity.
func TestAHostileSweepRunsNothing(t *testing.T) {
	called := filepath.Join(t.TempDir(), "called")
	script := "echo \"$0 $@\" >> " + called + "; cat >> " + called + "; "
	commands(t, map[string]string{"ssh": script + "exit 255\n", "sbatch": script + "echo 8\n", "scancel": script, "squeue": script + "echo '0|RUNNING|None|n|0|pgrlab-AAAAAAAAAA|'\n",
		"scontrol": script + "echo MaxArraySize = 9\n", "srun": script})
	victim := sleeper(t)
	terms := make(chan os.Signal, 1) // the workers are this process, whose own record stands there again after its next beat
	signal.Notify(terms, syscall.SIGTERM)
	defer signal.Stop(terms)
	host, _ := os.Hostname()
	self := victim.identity
	text, err := json.Marshal(self)
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("HERE", host, "PID", fmt.Sprint(self.PID), "SELF", strings.Trim(string(text), "{}"))
	for _, h := range hostile {
		g := made(t)
		dir := filepath.Dir(g.Dir(g.Jobs[0]))
		for _, name := range []string{"w", "localhost"} {
			r, err := g.Register(sweep.Worker{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			r.Keep(&sweep.Engine{Grid: g})
			defer r.End(nil, "done")
			replaced(t, dir, "workers/"+name+"/worker.json", fill.Replace(`{"name":"x","host":"HERE","pid":PID,"beats":1}`))
		}
		replaced(t, dir, h.file, fill.Replace(h.text))
		for _, c := range []*cobra.Command{requeueCommand(), pokeCommand(), cancelCommand(), statusCommand()} {
			name := c.Name()
			c.SetArgs([]string{dir})
			c.SetOut(io.Discard)
			c.SetErr(io.Discard)
			err := c.ExecuteContext(t.Context())
			if victim.gone() {
				t.Fatalf("%s with %s: %s: signalled another process", name, h.file, h.text)
			}
			if text, _ := os.ReadFile(called); strings.Contains(string(text), "BAIT") || strings.Contains(string(text), "/bin/sh") {
				t.Errorf("%s with %s: %s: %v: called %s", name, h.file, h.text, err, text)
			}
			os.Remove(called)
		}
		if found, err := filepath.Glob(filepath.Join(dir, "..", "*BAIT*")); err != nil || len(found) > 0 {
			t.Errorf("%s: %s: made %q", h.file, h.text, found)
		}
	}
}

// replaced replaces a file of a sweep, as someone else may.
func replaced(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := run.ReplaceFile(dir, name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// bystander is a process that ends at any signal.
type bystander struct {
	identity run.Process
	ended    chan struct{}
}

func (b *bystander) gone() bool {
	select {
	case <-b.ended:
		return true
	default:
		return errors.Is(syscall.Kill(b.identity.PID, 0), syscall.ESRCH)
	}
}

func sleeper(t *testing.T) *bystander {
	t.Helper()
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	b := &bystander{identity: run.Self(), ended: make(chan struct{})}
	b.identity.PID = c.Process.Pid
	go func() { c.Wait(); close(b.ended) }()
	t.Cleanup(func() { c.Process.Kill(); <-b.ended })
	return b
}

// Of the options that a sweep was begun with, only harmless ones are used again by themselves. The
// others have to be given, and what is given comes last and wins.
func TestOptionsAreGivenAgain(t *testing.T) {
	for _, c := range []struct{ flag, given, recorded, want, refused string }{
		{flag: "ssh"},
		{flag: "ssh", given: "-4", want: "-4"},
		{flag: "ssh", given: "-4", recorded: "-oProxyCommand=x", want: "-4"},
		{flag: "ssh", recorded: "-4", refused: "--ssh=-4"},
		{flag: "sbatch", recorded: "--time=2:00:00 --exclusive", want: "--time=2:00:00 --exclusive"},
		{flag: "sbatch", given: "--time=4", recorded: "--time=2 --mem=4G", want: "--mem=4G --time=4"},
		{flag: "sbatch", recorded: "--time=2 --chdir=/x", refused: "--sbatch='--chdir=/x'"},
		{flag: "sbatch", given: "--chdir=/x", recorded: "--time=2 --chdir=/x", want: "--time=2 --chdir=/x"},
	} {
		harmless := map[string]func(string) bool{"ssh": noneIs, "sbatch": slurm.AsksForResources}[c.flag]
		got, err := again(c.flag, strings.Fields(c.given), strings.Fields(c.recorded), harmless)
		switch {
		case c.refused != "" && (err == nil || !strings.HasSuffix(err.Error(), ": "+c.refused)):
			t.Errorf("%+v: %q, %v", c, got, err)
		case c.refused == "" && (err != nil || strings.Join(got, " ") != c.want):
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// Records of another user are shown and not acted upon.
func TestRecordsOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the administrator can give files away")
	}
	called := filepath.Join(t.TempDir(), "called")
	script := "echo \"$0 $@\" >> " + called + "; "
	commands(t, map[string]string{"ssh": script, "sbatch": script, "scancel": script, "squeue": "true\n", "scontrol": script})
	for file, text := range map[string]string{
		"ssh.json":              `{"hosts":[{"name":"localhost"}]}`,
		"slurm.json":            `[{"id":"7","name":"pgrlab-AAAAAAAAAA"}]`,
		"workers/w/worker.json": "",
	} {
		g := made(t)
		dir := filepath.Dir(g.Dir(g.Jobs[0]))
		for _, name := range []string{"w", "localhost"} {
			r, err := g.Register(sweep.Worker{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Leave()
			own, err := json.Marshal(sweep.Worker{Name: name, Process: run.Self(), Beats: 1})
			if err != nil {
				t.Fatal(err)
			}
			if name == "localhost" {
				own = []byte(`{"name":"localhost","host":"elsewhere"}`)
			} else if text == "" {
				text = string(own)
			}
			replaced(t, dir, "workers/"+name+"/worker.json", string(own))
		}
		if file != "workers/w/worker.json" {
			os.Remove(filepath.Join(dir, "workers/w/worker.json"))
		}
		replaced(t, dir, file, text)
		if err := os.Chown(filepath.Join(dir, file), 1, 1); err != nil {
			t.Skip(err)
		}
		for _, c := range []*cobra.Command{requeueCommand(), pokeCommand(), cancelCommand(), statusCommand()} {
			name := c.Name()
			c.SetArgs([]string{dir})
			c.SetOut(io.Discard)
			c.SetErr(io.Discard)
			err := c.ExecuteContext(t.Context())
			acts := name == "cancel" || name == "requeue" && file != "workers/w/worker.json"
			if acts && (err == nil || !strings.Contains(err.Error(), "another user (uid 1)")) || !acts && err != nil {
				t.Errorf("%s: %s: %v", file, name, err)
			}
			if text, err := os.ReadFile(called); err == nil {
				t.Errorf("%s: %s called %s", file, name, text)
			}
		}
	}
}
