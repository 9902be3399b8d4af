package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

// Every file that a command reads by name, with FILE for the name.
var fileArguments = []string{
	"preset show FILE", "train --preset FILE", "sweep --preset FILE --method sac --out s",
	"train --task cheetah-run --schedule FILE",
	"journal canonical FILE", "journal diff FILE old", "journal diff old FILE",
	"serve --ssh 127.0.0.1:0 --keys FILE", "serve --ssh 127.0.0.1:0 --keys keys --host-key FILE",
	"report FILE", "report old --results FILE", "watch --policy FILE", "replay FILE --plain", "card FILE", "export FILE --format csv",
	"train --resume FILE", "fork FILE@3 --out f", "analyse FILE", "sweep status FILE",
}

// What is no ordinary file, or has no end, is refused in one line at once: nothing waits for a pipe
// that has no writer, and nothing reads a device or zeros without end.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "sockets"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv(cli.RunsVariable, "")
	write(t, "old/"+run.JournalName, "")
	write(t, "old/"+run.ConfigName, preset(t, "--task", "cheetah-run"))
	write(t, "keys", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKmLXuRyPp1M7pZfdGH4WNUHXQCOtFXGfmK5hCpAl3Na me\n")
	write(t, "huge.csv", "")
	if err := os.Chmod("keys", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("huge.csv", 1<<32); err != nil { // sparse: it takes no room
		t.Fatal(err)
	}
	if err := os.Chmod("huge.csv", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("pipe.csv", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder.csv", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", "zero.csv"); err != nil {
		t.Fatal(err)
	}
	for _, line := range fileArguments {
		for _, name := range []string{"/dev/zero", "zero.csv", "./pipe.csv", "./folder.csv", "./huge.csv"} {
			var stdout, stderr bytes.Buffer
			status := Main(context.Background(), commandtest.Deps(), words(strings.ReplaceAll(line, "FILE", name)), strings.NewReader(""), &stdout, &stderr)
			said := stderr.String()
			if status == 0 || !strings.HasPrefix(said, "pgrlab: ") || strings.Count(said, "\n") != 1 || len(said) > 1000 {
				t.Errorf("pgrlab %s with %s: status %d, %.300q", line, name, status, said)
			}
		}
	}
}
