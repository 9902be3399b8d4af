package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/device/cpu"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

// refusals are command lines that cannot be meant as they are, each with the status and with words
// of the answer that say what to do.
var refusals = []struct {
	line   string // '' is an empty word
	status int
	says   string
}{
	// names
	{"trian", 2, `did you mean "train"?`},
	{"help trian", 2, `did you mean "train"?`},
	{"help journal dif", 2, `did you mean "diff"? (pgrlab journal --help)`},
	{"help train now", 2, `unknown command "now"`},
	{"''", 2, "pgrlab --help"},
	{"demo", 2, "pgrlab --preset demo"},
	{"train short", 2, "pgrlab train --scale short"},
	{"train cheetah-run", 2, "--task cheetah-run"},
	{"list task", 2, `did you mean "tasks"?`},
	{"list tasks now", 2, "see pgrlab list tasks --help"},
	{"list --jsn", 2, `did you mean "json"?`},
	{"preset", 2, "needs one of show"},
	{"preset show dmo", 2, `did you mean "demo"?`},
	{"preset show a b", 2, "at most one preset"},
	{"preset show --task ''", 2, "--task is empty"},
	{"preset show --scale tiny", 2, "pgrlab list scales"},
	{"version now", 2, `unexpected argument "now"`},
	{"doctor now", 2, `unexpected argument "now"`},
	// flags
	{"--bogus", 2, "pgrlab --help"},
	{"-x", 2, "unknown shorthand flag"},
	{"---task", 2, "bad flag syntax"},
	{"train --metod sac", 2, `did you mean "method"?`},
	{"train --task", 2, "--task needs a value"},
	{"train --steps", 2, "--steps needs a value"},
	{"version --json=perhaps", 2, "want true or false"},
	// what an agent is given
	{"train --method sac --observation pixels", 2, "method sac takes state: want that, or a method that takes pixels: synther, pgr-reward"},
	{"preset show --method per-td --observation pixels", 2, "method per-td takes state"},
	{"train --method drqv2 --action-repeat 1 --observation state", 2, "method drqv2 takes pixels: want that"},
	{"train --observation touch", 2, `want "state" or "pixels"`},
	{"train --method drqv2 --action-repeat 1", 2, "has no camera"},
	// empty values, because a variable is not set
	{"--task ''", 2, "--task is empty"},
	{"train --task ''", 2, "--task is empty"},
	{"train --method=", 2, "--method is empty"},
	{"train --scale ' '", 2, "--scale is empty"},
	{"train --preset ''", 2, "--preset is empty"},
	{"train --set ''", 2, "--set is empty"},
	{"train --at ''", 2, "--at is empty"},
	{"train --out ''", 2, "--out is empty"},
	{"train --resume ''", 2, "--resume is empty"},
	{"train --seed ''", 2, "--seed is empty"},
	{"train --steps ''", 2, "--steps is empty"},
	{"train --noise-sigma ''", 2, "--noise-sigma is empty"},
	{"train --device ''", 2, "--device is empty"},
	{"train --disk ''", 2, "--disk is empty"},
	{"train --checkpoint-every ''", 2, "--checkpoint-every is empty"},
	{"train --tensorboard ''", 2, "--tensorboard is empty"},
	{"sweep --out new --on mars", 2, "want here, slurm or ssh:HOST"},
	{"sweep --out new --on ssh:", 2, "is no name of a host"},
	{"sweep --out new --on ssh:-oProxyCommand=x", 2, "is no name of a host"},
	{"sweep --out new --on ssh:a,a:2", 2, "a twice"},
	{"sweep --out new --on ssh:a:0", 2, "how many jobs the host does"},
	{"sweep --out new --ssh -p22", 2, "--ssh is for --on ssh:"},
	{"sweep --out new --on ssh:a --ssh p22", 2, "want an option of ssh"},
	{"sweep --out new --profile gpu", 2, "--sbatch and --profile are for --on slurm"},
	{"sweep --out new --on slurm --profile gpu", 2, "there is no profile gpu"},
	{"sweep --out new --profile ''", 2, "--profile is empty"},
	{"sweep poke nosuch", 2, "nosuch"},
	{"sweep requeue nosuch", 2, "nosuch"},
	{"sweep worker nosuch --name a", 2, "nosuch"},
	{"sweep --out new --pack", 2, "--pack is for --device all"},
	{"sweep --out new --device all --pack --jobs 3", 2, "--pack is for --device all"},
	{"sweep --out new --runs-per-job 2", 2, "--runs-per-job is for --on slurm"},
	{"sweep --out new --on ssh:a --runs-per-job 2", 2, "--runs-per-job is for --on slurm"},
	{"sweep --out new --on slurm --runs-per-job 0", 2, "--runs-per-job"},
	{"sweep --out new --sbatch --time=1", 2, "--sbatch and --profile are for --on slurm"},
	{"sweep --out new --on slurm --sbatch time", 2, "want an option of sbatch"},
	{"sweep status", 2, "the folder of a sweep"},
	{"sweep status nosuch", 2, "nosuch"},
	{"sweep cancel nosuch", 2, "nosuch"},
	{"sweep job --requeue", 2, "the folder of a sweep"},
	{"sweep --task '' --out s", 2, "--task is empty"},
	{"sweep --task cheetah-run,,walker-walk --out s", 2, "--task is empty"},
	{"sweep --out ''", 2, "--out is empty"},
	{"fork '' --set ratio=0.5", 2, "argument 1 is empty"},
	{"report ''", 2, "argument 1 is empty"},
	{"report old ''", 2, "argument 2 is empty"},
	{"card ''", 2, "argument 1 is empty"},
	{"attach ''", 2, "argument 1 is empty"},
	{"stop ''", 2, "argument 1 is empty"},
	{"trace --task ''", 2, "--task is empty"},
	{"watch --policy ''", 2, "--policy is empty"},
	{"export old --format ''", 2, "--format is empty"},
	{"bench ''", 2, "argument 1 is empty"},
	// counts and other numbers
	{"train --steps many", 2, "want a whole number, for example 20000, 20k or 1.5M"},
	{"train --steps 0", 2, "--steps 0: want 1 to 1,000,000,000"},
	{"train --steps -1", 2, "--steps -1: want 1 to"},
	{"train --steps 1.5", 2, "not whole"},
	{"train --steps 1k5", 2, "no count"},
	{"train --steps 1e99", 2, "too large"},
	{"train --steps 20000000k", 2, "want 1 to 1,000,000,000"},
	{"train --seed -1", 2, "want a whole number from 0"},
	{"train --seed one", 2, "want a whole number from 0"},
	{"train --threads 65", 2, "want 0 to 64"},
	{"train --threads -1", 2, "want 0 to 64"},
	{"train --action-repeat 0", 2, "want at least 1"},
	{"train --noise-share much", 2, "want a number"},
	{"train --noise-share 2", 2, "noise"},
	{"train --noise-share NaN", 2, "noise"},
	{"train --noise-sigma a,b", 2, "want a number, or several"},
	{"train --checkpoint-every soon", 2, "want a time, for example 30s"},
	{"train --checkpoint-every -5m", 2, "want more than 0s"},
	{"train --disk lots", 2, "want a size, for example 5GiB"},
	{"train --disk -1GiB", 2, "want a size"},
	{"train --gpu-mem NaN", 2, "want a size"},
	{"train --precision fp8", 2, "fp32"},
	// what to run
	{"train --task cheeta", 2, `did you mean "cheetah-run"?`},
	{"train --method pgr-curiousity", 2, `did you mean "pgr-curiosity"?`},
	{"train --scale tiny", 2, "pgrlab list scales"},
	{"train --preset dmeo", 2, `did you mean "demo"?`},
	{"train --preset ./none.toml", 2, "none.toml"},
	{"train --preset typo.toml", 2, `typo.toml:4: unknown key "knobs.guidence"`},
	{"train --preset old", 2, "old"},
	{"train --device gpu", 2, "pgrlab list devices"},
	{"train --device cuda:0", 2, "--device cpu"},
	{"train --device cuda:x", 2, "cuda"},
	{"train --resume nosuch", 2, "give a run folder, or latest"},
	{"train --resume nosuch@20k", 2, "give a run folder, or latest"},
	{"train --resume old@soon", 2, "want DIR@STEP"},
	{"train --resume old --task cheetah-run", 2, "without --task"},
	{"train --schedule nosuch", 2, "nosuch"},
	{"train --drop-tail", 2, "--resume"},
	{"train --out old", 2, "choose another one with --out"},
	{"train --out plain/run", 1, "choose another one with --out"},
	// knobs
	{"train --set rato=0.5", 2, `did you mean "ratio"?`},
	{"train --set ratio", 2, "want KNOB=VALUE or KEY=VALUE"},
	{"train --set =3", 2, "want KNOB=VALUE"},
	{"train --set generator.widht=512", 2, `did you mean "generator.width"?`},
	{"train --set generator.width=wide", 2, "want a whole number"},
	{"train --set generator.width=0", 2, "width is 0"},
	{"train --set environment.noise_share=2", 2, "use --noise-share"},
	{"train --set environment.nois=2", 2, "did you mean"},
	{"sweep --out x --task cheetah-run --method sac --set seed=3", 2, "use --seed"},
	{"preset show --set method=sac", 2, "use --method"},
	{"train --at 100:generator.width=512", 2, "set where a run begins"},
	{"train --set ratio=", 2, "want a number from 0 to 1"},
	{"train --set ratio=1.5", 2, "want a number from 0 to 1"},
	{"train --set ratio=NaN", 2, "want a number from 0 to 1"},
	{"train --set utd=2.5", 2, "want a count from 1 to 40"},
	{"train --set relevance=novelty", 2, "want one of curiosity"},
	{"train --set Ω=3", 2, "pgrlab list knobs"},
	{"train --method sac --set ω=3", 2, "not used by sac"},
	{"train --at guidance=3", 2, "want STEP:knob=value"},
	{"train --at soon:guidance=3", 2, "want STEP"},
	{"train --at -5:guidance=3", 2, "want STEP"},
	{"train --at 100:guidance=99", 2, "want a number from 0 to 10"},
	{"train --at 100:guidance=", 2, "value is missing"},
	{"train --at 2M:ω=3", 2, "choose an earlier step or more --steps"},
	{"fork old --set ratio=0.5", 2, "no checkpoint"},
	{"fork nosuch --set ratio=0.5", 2, "nosuch"},
	{"fork old@1e --set ratio=0.5", 2, "want DIR@STEP"},
	{"fork", 2, "needs one run folder"},
	{"fork old --pairs 0", 2, "want 1 to"},
	// grids
	{"sweep", 2, "give --out DIR"},
	{"sweep --out s", 2, "say what to run"},
	{"sweep --out s --task cheeta", 2, `did you mean "cheetah-run"?`},
	{"sweep --out s --task cheetah-run --seeds 3-1", 2, "want for example 0-4,7"},
	{"sweep --out s --task cheetah-run --seeds 1,1", 2, "twice"},
	{"sweep --out s --task cheetah-run --seeds all", 2, "want for example 0-4,7"},
	{"sweep --out s --task cheetah-run --jobs 0", 2, "want at least 1"},
	{"sweep --out s --task cheetah-run --steps 0", 2, "want 1 to"},
	{"sweep --out s --task cheetah-run --set rato=1", 2, `did you mean "ratio"?`},
	{"sweep --out s --task cheetah-run --vary guidance", 2, "want KNOB=VALUE or KEY=VALUE"},
	{"sweep --out s --task cheetah-run --vary guidance=", 2, "a value is empty"},
	{"sweep --out s --task cheetah-run --vary guidance=1,,3", 2, "a value is empty"},
	{"sweep --out s --task cheetah-run --vary guidance=1,1", 2, "1 stands there twice"},
	{"sweep --out s --task cheetah-run --vary guidance=1,99", 2, "99 is out of range"},
	{"sweep --out s --task cheetah-run --vary guidance=1 --vary ω=3", 2, "varied twice"},
	{"sweep --out s --task cheetah-run --vary seed=1,2", 2, "use --seed"},
	{"sweep --out s --task cheetah-run --vary buffer=20k,20000", 2, "are the same run"},
	{"sweep --out s --task cheetah-run --vary evaluation.every=500,1000", 2, "changes what is measured"},
	{"sweep --out s --task cheetah-run --vary generator.widht=8,16", 2, `did you mean "generator.width"?`},
	{"sweep --out s --task cheetah-run --method sac --vary guidance=1,3", 2, "not used by sac"},
	{"sweep --out s --task cheetah-run --device cuda:one", 2, "want cuda:0, cuda:1"},
	{"sweep --out s --task cheetah-run --device cuda:1,cpu", 2, "cpu names no GPU"},
	{"sweep --out s --task cheetah-run --device gpu", 2, "unknown device"},
	{"sweep --out s --task cheetah-run --device all", 2, "there are no GPUs"},
	{"sweep --out s --task cheetah-run --device cuda:1 --on slurm", 2, "is of this machine"},
	{"sweep --out s --task cheetah-run --method redq --observation pixels", 2, "method redq takes state"},
	{"sweep --out s --task cheetah-run --method redq --tv noise", 2, "there is none in task cheetah-run"},
	{"sweep --out s --task cheetah-run --method synther --observation picture", 2, `want "state" or "pixels"`},
	{"sweep job s 0", 2, "s"},
	{"sweep job", 2, "needs the folder of a sweep and an index"},
	// labs that are running
	{"attach", 1, "pgrlab train begins one"},
	{"attach nosuch", 2, "no such run"},
	{"serve", 2, "give the public keys with --keys FILE"},
	{"serve --keys nosuch", 1, "nosuch: no such file"},
	{"serve --keys old/config.toml", 1, "not a public key: want"},
	{"serve --keys nosuch --ssh host:1:2", 2, "want HOST:PORT"},
	{"serve --keys nosuch --sessions 0", 2, "want 1 or more"},
	{"serve --keys nosuch --idle -1s", 2, "want 0s (never) or more"},
	{"attach old", 1, "no lab runs there"},
	{"pause", 1, "pgrlab train begins one"},
	{"pause nosuch", 2, "no such run"},
	{"pause done", 1, "it has made all its 30,000 steps"},
	{"resume done", 1, "pgrlab replay done shows it"},
	{"stop 4194999", 2, "no lab of yours has process 4194999"},
	{"checkpoint --timeout -1s", 2, "want more than 0s"},
	{"park old extra", 2, "needs at most one run"},
	{"checkpoint --timeout never", 2, "want a time"},
	{"ps now", 2, `unexpected argument "now"`},
	{"pause one two", 2, "needs at most one run"},
	{"resume --timeout soon", 2, "want a time"},

	// runs that exist already
	{"report", 2, "needs one run folder or file of results, or more"},
	{"report nosuch", 2, "give a run folder"},
	{"report latest", 2, "look for runs in runs"},
	{"card latest", 2, "look for runs in runs"},
	{"replay latest --plain", 2, "look for runs in runs"},
	{"export latest --format csv", 2, "look for runs in runs"},
	{"analyse latest", 2, "look for runs in runs"},
	{"journal diff latest old", 2, "look for runs in runs"},
	{"train --schedule latest", 2, "look for runs in runs"},
	{"report plain", 2, "give a run folder"},
	{"report old --step 0", 2, "want at least 1"},
	{"report old --score-from 0", 2, "want at least 1"},
	{"report old --threshold high", 2, "want a number"},
	{"report old --figure curve", 2, `did you mean "curves"?`},
	{"card", 2, "needs one run folder"},
	{"card nosuch", 2, "no such run folder"},
	{"export nosuch --format csv", 2, "no such run folder"},
	{"replay done --speed Inf --plain", 2, "want more than 0"},
	{"report old --threshold NaN", 2, "want a number"},
	{"export old", 2, "needs one of --format"},
	{"export --weights", 2, "needs one run folder"},
	{"export old --weights --format csv", 2, "needs one of"},
	{"export done --format xml", 2, "export --help"},
	{"export done --buffer fake", 2, "export --help"},
	{"export done --buffer real --step -3", 2, "want at least 0"},
	{"export done --weights --member 3", 2, "no member 3"},
	{"replay", 2, "needs one run folder"},
	{"replay nosuch --plain", 2, "no run folder"},
	{"replay done --speed 0 --plain", 2, "want more than 0"},
	{"replay done --speed NaN --plain", 2, "want more than 0"},
	{"replay done --speed fast --plain", 2, "want a number"},
	{"replay done", 2, "needs a terminal"},
	{"analyse", 2, "needs one run folder"},
	{"analyse nosuch", 2, "give a run folder"},
	{"analyse old@x", 2, "want DIR or DIR@STEP"},
	{"analyse done --timeout 0s", 2, "want more than 0s"},
	{"analyse done --rows 2", 2, "want at least 3"},
	{"analyse done done --journal", 2, "about one run"},
	{"journal", 2, "needs one of canonical, diff"},
	{"journal diff old", 2, "needs two run folders"},
	{"journal canonical nowhere", 2, "give a run folder"},
	{"journal canonical", 2, "needs one run folder"},
	{"licences now", 2, `unexpected argument "now"`},
	{"licences --lst", 2, `did you mean "list"?`},
	{"man", 2, "needs the folder to write to"},
	{"man plain", 1, "man: make folder plain: not a directory"},
	{"man one two", 2, "needs the folder"},
	{"completion", 2, "needs one of bash, zsh"},
	{"completion ksh", 2, "want one of bash, zsh"},
	// the rest
	{"trace", 2, "say which with --task"},
	{"trace --task cheetah-run --controls square", 2, "want triangle, zero, random"},
	{"trace --task cheetah-run --steps -1", 2, "want 0 to"},
	{"watch", 2, "--task"},
	{"watch --task cheetah-run --fps 0 --frames f", 2, "want 1 to 60"},
	{"watch --task cheetah-run --size 10 --frames f", 2, "want WxH pixels"},
	{"watch --task cheetah-run --size 10x10x10 --frames f", 2, "want WxH pixels"},
	{"watch --policy nosuch --frames f", 2, "nosuch"},
	{"bench critc", 2, `did you mean "critic"?`},
	{"bench --rounds 0", 2, "want at least 1"},
	{"bench --round 0s", 2, "want more than 0s"},
	{"", 2, "pgrlab train, or --plain"},
	{"--task cheetah-run", 2, "pgrlab train, or --plain"},
}

// programmers matches words that mean something only to programmers of this program.
var programmers = regexp.MustCompile(`strconv|invalid syntax|parsing|%!|panic|\.go:|0x[0-9a-f]{4}|<nil>|pgrlab: pgrlab|pflag|cobra|invalid argument`)

// A command line that cannot be meant is answered with one line that says what to do. Nothing is
// written anywhere, and no run begins.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "sockets"))
	t.Setenv("TMPDIR", dir)
	t.Setenv(cli.RunsVariable, "")
	write(t, "typo.toml", "task = \"cheetah-run\"\n\n[knobs]\nguidence = 3.0\n")
	write(t, "plain", "not a folder\n")
	write(t, "old/"+run.JournalName, "")
	write(t, "old/"+run.ConfigName, preset(t, "--task", "cheetah-run"))
	write(t, "done/"+run.ConfigName, preset(t, "--task", "cheetah-run"))
	write(t, "done/"+run.JournalName, `{"type":"start","step":0,"task":"cheetah-run","method":"pgr-curiosity"}`+"\n"+`{"type":"done","step":30000,"steps":30000}`+"\n")
	before := tree(t, dir)
	for _, c := range refusals {
		args := words(c.line)
		d := commandtest.Deps()
		d.Device = func(cli.DeviceRequest) (cli.Device, error) {
			t.Errorf("pgrlab %s: starts a device", c.line)
			return nil, errors.New("a test has no device")
		}
		var stdout, stderr bytes.Buffer
		status := Main(context.Background(), d, args, strings.NewReader(""), &stdout, &stderr)
		said := stderr.String()
		if status != c.status || stdout.Len() > 0 || !strings.Contains(said, c.says) {
			t.Errorf("pgrlab %s: status %d, stdout %q, stderr %q; want %d and %q", c.line, status, stdout.String(), said, c.status, c.says)
		}
		if !strings.HasPrefix(said, "pgrlab: ") || strings.Count(said, "\n") != 1 || programmers.MatchString(said) {
			t.Errorf("pgrlab %s: not a line for its user: %q", c.line, said)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("pgrlab %s changes files: %s, before %s", c.line, after, before)
			before = after
		}
	}
	if len(refusals) < 80 {
		t.Errorf("only %d command lines", len(refusals))
	}
}

// A run from pixels that is impossible is refused with one line before anything is written: the
// frames do not fit the convolutions or the machine, the task has no camera, or the method does not
// take pixels.
func TestRefusalsFromPixels(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("TMPDIR", dir)
	t.Setenv(cli.RunsVariable, "")
	d := commandtest.Deps()
	for i := range d.Tasks {
		d.Tasks[i].Seen = d.Tasks[i].Name == "cheetah-run"
		d.Tasks[i].With = func(task.Environment) (task.Task, error) { return d.Tasks[i], nil }
	}
	d.Device = func(cli.DeviceRequest) (cli.Device, error) {
		t.Error("a device is started")
		return nil, errors.New("a test has no device")
	}
	var shown bytes.Buffer
	if status := Main(context.Background(), d, words("preset show --task cheetah-run --method pgr-curiosity --scale demo --observation pixels"), strings.NewReader(""), &shown, io.Discard); status != 0 {
		t.Fatal("no preset to change")
	}
	for name, changes := range map[string][]string{
		"side": {"side = 7"}, "strides": {"strides = [4, 4, 2, 2]"}, "frames": {"buffer = 900000000", "steps = 900000000"},
	} {
		doc := shown.String()
		for _, change := range changes {
			key, _, _ := strings.Cut(change, "=")
			doc = regexp.MustCompile(`(?m)^`+key+`=.*$`).ReplaceAllString(doc, change)
		}
		write(t, name+".toml", doc)
	}
	before := tree(t, dir)
	for _, c := range []struct{ line, says string }{
		{"train --preset ./side.toml", "pixels.strides [2 2 1 1] do not fit pixels.side 7: nothing is left for convolution 3: choose a larger side or smaller strides"},
		{"train --preset ./strides.toml", "pixels.strides [4 4 2 2] do not fit pixels.side 64: nothing is left for convolution 4"},
		{"train --preset ./frames.toml", "for buffer 900000000 with pixels.side 64: choose smaller ones"},
		{"train --task walker-walk --method drqv2 --scale demo", "has no camera"},
		{"train --task cheetah-run --method redq --observation pixels", "method redq takes state: want that, or a method that takes pixels"},
	} {
		var stdout, stderr bytes.Buffer
		status := Main(context.Background(), d, words(c.line), strings.NewReader(""), &stdout, &stderr)
		said := stderr.String()
		if status != 2 || stdout.Len() > 0 || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1 || programmers.MatchString(said) {
			t.Errorf("pgrlab %s: status %d, stdout %q, stderr %q; want %q", c.line, status, stdout.String(), said, c.says)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("pgrlab %s changes files: %s, before %s", c.line, after, before)
		}
	}
}

// Every command occurs in the table.
func TestRefusalsOfEveryCommand(t *testing.T) {
	root := newRoot(commandtest.Deps())
	for _, c := range root.Commands() {
		tried := false
		for _, r := range refusals {
			tried = tried || r.line == c.Name() || strings.HasPrefix(r.line, c.Name()+" ")
		}
		if !tried && c.IsAvailableCommand() {
			t.Errorf("no command line of %s is tried", c.Name())
		}
	}
}

// words splits a line as a shell would.
func words(line string) []string {
	var all []string
	for _, w := range regexp.MustCompile(`'[^']*'|[^ ]+`).FindAllString(line, -1) {
		all = append(all, strings.Trim(w, "'"))
	}
	return all
}

// tree lists the files below a folder with their sizes.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil && !d.IsDir() {
			b.WriteString(path + " " + info.ModTime().String() + "\n")
		} else {
			b.WriteString(path + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// preset returns the output of preset show.
func preset(t *testing.T, flags ...string) string {
	t.Helper()
	status, stdout, stderr := command(append([]string{"preset", "show"}, flags...)...)
	if status != cli.StatusDone {
		t.Fatal(stderr)
	}
	return stdout
}

// The range of --threads is that of the devices.
func TestThreads(t *testing.T) {
	if cli.MaxThreads != cpu.MaxThreads {
		t.Errorf("--threads takes %d, a device %d", cli.MaxThreads, cpu.MaxThreads)
	}
}
