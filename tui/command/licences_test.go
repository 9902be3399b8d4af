package command

import (
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/licence"
)

// Every part is listed in one line, and every text is printed.
func TestLicences(t *testing.T) {
	parts, err := licence.Parts()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := command("licences", "--list")
	status, all, stderr := command("licences")
	if status != cli.StatusDone || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) != len(parts)+1 || len(parts) < 60 {
		t.Errorf("%d lines of %d parts", len(lines), len(parts))
	}
	for i, p := range parts {
		if line := lines[i+1]; !strings.HasPrefix(line, p.Name+" ") || !strings.HasSuffix(line, "  "+p.Licence) || !strings.Contains(line, p.Version) {
			t.Errorf("%q does not list %s", line, p.Title())
		}
		for _, text := range p.Texts {
			if !strings.Contains(all, strings.TrimSpace(text.Text)) {
				t.Errorf("%s of %s is not printed", text.File, p.Title())
			}
		}
	}
	for _, name := range []string{"pgrlab", "Go runtime and standard library", "MuJoCo", "codeberg.org/go-fonts/liberation", "gorgonia.org/gorgonia"} {
		if !strings.Contains(list, name) {
			t.Errorf("%s is not listed", name)
		}
	}
}
