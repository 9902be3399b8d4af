package command

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/sbom"
)

// version --json says what the binary is and which physics it has.
func TestVersionAsJSON(t *testing.T) {
	status, stdout, stderr := command("version", "--json")
	var got struct {
		Version, Go, OS, Arch string
		MuJoCo                struct {
			Version, SHA256 string
			Embedded        bool
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); status != cli.StatusDone || err != nil {
		t.Fatalf("status %d, %v, %s", status, err, stderr)
	}
	if got.Version != "v0.0.0-test" || got.Go != runtime.Version() || got.OS != runtime.GOOS || got.Arch != runtime.GOARCH ||
		got.MuJoCo.Version != "0.0.0" || got.MuJoCo.SHA256 != "00ff" || !got.MuJoCo.Embedded {
		t.Errorf("%+v of\n%s", got, stdout)
	}
}

// version --sbom describes the binary of the process, here that of this test, in which the Go tool
// records no modules.
func TestVersionAsSBOM(t *testing.T) {
	status, stdout, stderr := command("version", "--sbom")
	var got sbom.Document
	if err := json.Unmarshal([]byte(stdout), &got); status != cli.StatusDone || err != nil {
		t.Fatalf("status %d, %v, %s", status, err, stderr)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	main := got.Metadata.Component
	if main.Version != "v0.0.0-test" || main.Hashes[0].Content != fmt.Sprintf("%x", sha256.Sum256(file)) {
		t.Errorf("the binary is %+v", main)
	}
	if len(got.Components) != 1 || got.Components[0].Version != strings.TrimPrefix(runtime.Version(), "go") { // no physics
		t.Errorf("components %+v", got.Components)
	}
}

// A file that is no binary of the same commit is refused in one line.
func TestVersionRefusesOtherBinaries(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("text", []byte("text"), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"version text", "with --sbom only"},
		{"version --json --sbom", "exclude each other"},
		{"version --sbom a b", "at most one binary"},
		{"version --sbom nowhere", "nowhere"},
		{"version --sbom text", "text is no program"},
		{"version --sbom " + filepath.Dir(self), filepath.Dir(self)},
		{"version --sbom " + self, "-buildvcs=true"}, // go test records no commit
	} {
		status, stdout, stderr := command(strings.Fields(c.line)...)
		if status == cli.StatusDone || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q, want %q", c.line, status, stdout, stderr, c.want)
		}
	}
}
