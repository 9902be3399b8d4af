package program

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/launches")

// What a GPU does in runs of presets is what files in testdata/launches say, so that a change that adds launches, bytes or
// waits is seen.
func TestLaunches(t *testing.T) {
	folder, err := filepath.Abs("testdata/launches")
	if err != nil {
		t.Fatal(err)
	}
	d := setUp(t)
	for _, run := range []struct{ name, args string }{
		{"release", "--task cheetah-run --method pgr-curiosity --scale release"},
		{"cpu", "--task cheetah-run --method pgr-curiosity --scale cpu"},
		{"dreamer", "--task cheetah-run --method dreamerv3 --scale demo"},
		{"drqv2", "--task cartpole-swingup --method drqv2 --scale demo"},
		{"ppo", "--task maze-sparse --method ppo-rnd --scale demo"},
		{"soak-bf16", "--task cheetah-run --method pgr-curiosity --scale release --precision bf16"},
		{"soak-redq", "--task cheetah-run --method redq --scale paper"},
		{"soak-mbpo", "--task cheetah-run --method mbpo --scale short"},
	} {
		if strings.HasPrefix(run.name, "soak-") && !soaking() && !*update {
			continue
		}
		var said strings.Builder
		status, out := pgrlab(t, d, &said, append([]string{"bench", "--device", "cuda", "--estimate"}, strings.Fields(run.args)...)...)
		if status != 0 {
			t.Fatalf("%s: %s", run.args, &said)
		}
		file := filepath.Join(folder, run.name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out != string(want) {
			t.Errorf("%s is now\n%s\nIf that is meant: go test ./tui/program -run Launches -update, and give both in the commit", run.name, out)
		}
	}
}
