package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

// The picture in the README is what this program shows of the run in docs/demo. After a change of
// the screen, make picture draws it again.
func TestThePictureIsUpToDate(t *testing.T) {
	want, err := os.ReadFile("../../docs/screen.svg")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "screen.svg")
	var stderr bytes.Buffer
	status := Main(context.Background(), commandtest.Deps(), []string{"replay", "../../docs/demo", "--picture", path, "--step", "21000"}, strings.NewReader(""), &stderr, &stderr)
	if status != cli.StatusDone {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/screen.svg is not what the program shows: run make picture")
	}
}

func TestPicturesThatCannotBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "screen.svg")
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--size", "0x3"}, cli.StatusUsage, "want WxH columns and lines"},
		{[]string{"--size", "wide"}, cli.StatusUsage, "want WxH columns and lines"},
		{[]string{"--step", "30001"}, cli.StatusFailed, "choose one from 0 to 30000, which its journal has"},
	} {
		var stderr bytes.Buffer
		status := Main(context.Background(), commandtest.Deps(), append([]string{"replay", "../../docs/demo", "--picture", path}, c.args...), strings.NewReader(""), &stderr, &stderr)
		if status != c.status || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%v: status %d: %s", c.args, status, &stderr)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%v: a picture was written", c.args)
		}
	}
}
