package rundir

import (
	"os"
	"strings"
	"testing"
	"time"

	"pgrlab/tui/command/cli"
)

func TestDefaultDir(t *testing.T) {
	t.Chdir(t.TempDir())
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	t.Setenv(cli.RunsVariable, "")
	if got, want := Default(now, "cheetah-run", "sac", 3), "./runs/2026-03-04-cheetah-run-sac-s3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Default(now, "./pole.toml", "sac", 3), "./runs/2026-03-04-.%2Fpole.toml-sac-s3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for name, want := range map[string]string{"gym:Pendulum-v1": "gym-Pendulum-v1", "gym:ALE/Pong-v5": "gym-ALE-Pong-v5", "env:/usr/bin/python3 'a/my_env.py' --hard": "python3-my_env.py---hard"} {
		if got, want := Default(now, name, "sac", 3), "./runs/2026-03-04-"+want+"-sac-s3"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, want := range []string{"all/2026-03-04-cheetah-run-sac-s3", "all/2026-03-04-cheetah-run-sac-s3-2", "all/2026-03-04-cheetah-run-sac-s3-3"} {
		t.Setenv(cli.RunsVariable, "all")
		got := strings.TrimPrefix(Default(now, "cheetah-run", "sac", 3), "./")
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := os.MkdirAll(want, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
