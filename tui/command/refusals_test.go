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
	write(t, "planned.toml", "schedule = [\"9000:guidance=3\"]\n")
	for name, line := range map[string]string{"guided": "knobs.guidance = 99", "narrow": "generator.width = 0", "late": "schedule = ['abc']", "other": "task = 'cheeta-run'"} {
		write(t, name+".toml", line+"\n")
	}
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
		if at := strings.LastIndex(said, "\n  "); strings.HasSuffix(said, "^\n") && at > 0 { // a formula, and a caret below the place
			said = said[:strings.LastIndex(said[:at], "\n")+1]
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
