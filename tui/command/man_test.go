package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

// requests are the requests that a page may contain beside text.
var requests = regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|B|nf|fi|RS|RE)( |$)`)

// Every command has a man page with all of its flags, in ASCII.
func TestManPages(t *testing.T) {
	t.Chdir(t.TempDir())
	status, stdout, stderr := command("man", "man/man1")
	if status != cli.StatusDone || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	pages := manPages(newRoot(commandtest.Deps()))
	files, err := filepath.Glob("man/man1/*.1")
	if err != nil || len(files) != len(pages) || len(pages) < 30 {
		t.Errorf("%d files of %d pages, %v", len(files), len(pages), err)
	}
	for _, c := range pages {
		name := filepath.Join("man", "man1", pageName(c)+".1")
		page, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(string(page), "\n"), "\n") {
			if strings.HasPrefix(line, ".") && !requests.MatchString(line) || strings.HasPrefix(line, "'") {
				t.Errorf("%s:%d: %q looks like a request", name, i+1, line)
			}
			for _, r := range line {
				if r > 126 || r < ' ' {
					t.Errorf("%s:%d: %q", name, i+1, line)
					break
				}
			}
		}
		for _, s := range cli.FlagSections(c) {
			for _, f := range s.Flags {
				if want := ".B " + escape(strings.TrimSpace(f.Name)) + "\n"; !bytes.Contains(page, []byte(want)) {
					t.Errorf("%s does not say %s", name, f.Name)
				}
			}
		}
	}
	if _, again, said := command("man", "man/man1"); again != "" || said != stderr {
		t.Errorf("once more: %q %q", again, said)
	}
}

// A formatter does not complain about the pages.
func TestManPagesFormat(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not there")
	}
	t.Chdir(t.TempDir())
	command("man", ".")
	files, err := filepath.Glob("*.1")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	if out, err := exec.Command(groff, append([]string{"-man", "-Tutf8", "-ww", "-z"}, files...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	out, err := exec.Command(groff, "-man", "-Tutf8", "-P-cbou", "pgrlab-train.1").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(strings.Fields(string(out)), " ") // lines are justified
	for _, want := range []string{"--steps N", "20k or 1.5M", "cpu|auto|cuda…", "pgrlab train --preset demo --set ratio=0.25 --at 10000:guidance=3 --at"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q:\n%s", want, out)
		}
	}
}
