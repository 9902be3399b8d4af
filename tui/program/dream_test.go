package program

import (
	"os"
	"strings"
	"testing"

	"pgrlab/core/dataset/npy"
)

// Every command of docs/dream.md does what the page says, on smaller sizes; what is generated from a file
// and from a run can be exported, and a dream is refused what it has no use for.
func TestTheCommandsOfDreams(t *testing.T) {
	lines := commandsOf(t, "dream.md")
	d := setUp(t)
	do := func(want int, args ...string) (out, said string) {
		var stderr strings.Builder
		status, out := pgrlab(t, d, &stderr, args...)
		if status != want {
			t.Fatalf("%v: status %d, want %d: %s", args, status, want, &stderr)
		}
		return out, stderr.String()
	}
	if len(lines) != 6 {
		t.Fatalf("%d commands are not 6", len(lines))
	}
	for _, line := range lines {
		args := typed(line)[1:]
		for i, w := range args {
			args[i] = map[string]string{"demo": "tiny.toml", "5000": "70", "cheetah-run": "cartpole-swingup"}[w]
			if args[i] == "" {
				args[i] = w
			}
		}
		if args[0] == "dream" {
			args = append(args, "--set", "curiosity.warmup=20", "--set", "evaluation.analysed_rows=16")
		}
		if args[1] == "rows.npz" {
			args = append(args, "--preset", "tiny.toml")
		}
		_, said := do(0, args...)
		if args[0] == "dream" && !strings.Contains(said, ": 1 generation\n") {
			t.Errorf("%s: %s", line, said)
		}
	}
	do(0, "export", "dreams/a", "--buffer", "real", "--out", "real.npz")
	timeouts, terminals := column(t, "real.npz", "timeouts"), column(t, "real.npz", "terminals")
	for i, cut := range timeouts {
		if (cut == 1) == (terminals[i] == 1) {
			t.Fatalf("row %d of recorded data goes on in the next one", i)
		}
	}
	for dir, want := range map[string][]string{
		"dreams/a": {`"relevance":"curiosity"`, `"dynamics":`, "the run itself at 60: s'-s error "}, "dreams/b": {`"relevance":"count"`}, "dreams/c": {`"task":"cartpole-swingup"`, `"dynamics":`},
	} {
		journal, err := os.ReadFile(dir + "/events.jsonl")
		for _, w := range want {
			if err != nil || !strings.Contains(string(journal), w) {
				t.Errorf("the journal of %s lacks %s (%v)", dir, w, err)
			}
		}
	}
	for want, args := range map[string][]string{
		"there is no agent":            {"runs/source", "--once", "--set", "relevance=td"},
		"--steps is of runs that step": {"runs/source", "--once", "--steps", "5"},
		"task hopper-hop has 15 and 4": {"rows.npz", "--once", "--task", "hopper-hop"},
		"no such file":                 {"nothing.npz", "--once"},
		"ratio: not used":              {"runs/source", "--once", "--set", "ratio=0.25"},
	} {
		if _, said := do(2, append([]string{"dream"}, args...)...); !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
			t.Errorf("dream %v: %q, want %q in one line", args, said, want)
		}
	}
}

// column are the numbers of a column of an npz, one a row.
func column(t *testing.T, path, name string) []float32 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	all, err := npy.Open(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	a, err := all.Array(name)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, a.Len())
	if err := a.Floats(x); err != nil || len(x) == 0 {
		t.Fatalf("%d numbers, %v", len(x), err)
	}
	return x
}
