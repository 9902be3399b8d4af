package data

import (
	"bytes"
	"strings"
	"testing"

	"pgrlab/tui/command/cli"
)

func run(args ...string) (string, error) {
	var out bytes.Buffer
	c := Command()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.Execute()
	return out.String(), err
}

func TestCheck(t *testing.T) {
	const files = "../../../core/dataset/testdata/"
	said, err := run("check", files+"minari")
	if err != nil || !strings.HasPrefix(said, "  Minari: ") || !strings.Contains(said, "scaled to [-1, 1] from their bounds, [-2 -2] to [2 2]") {
		t.Errorf("%v, %s", err, said)
	}
	said, err = run("check", files+"minari", "--act-low", "-1", "--act-high", "1,1")
	if status := cli.ExitStatus(err); status != cli.StatusFailed || !strings.Contains(said, "! ") || strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("status %d, %v, %s", status, err, said)
	}
	if _, err = run("check", files+"robomimic.hdf5"); err == nil || !strings.Contains(err.Error(), "--done terminal or --done timeout") {
		t.Error(err)
	}
	if said, err = run("check", files+"robomimic.hdf5", "--done", "timeout"); err != nil || !strings.Contains(said, " 0 truly ended") {
		t.Errorf("%v, %s", err, said)
	}
}
