package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgrlab/tui/command/cli"
)

// Runs that are packed and unpacked are made longer with the journal of a run that never was packed, also
// with a task of files. While a run is at work it is not packed.
func TestRunsGoOnElsewhere(t *testing.T) {
	files, err := filepath.Abs("../../envs/taskfile/testdata")
	if err != nil {
		t.Fatal(err)
	}
	d := setUp(t)
	if err := os.CopyFS("mine", os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	do := func(want int, args ...string) (out string) {
		t.Helper()
		said.Reset()
		status, out := pgrlab(t, d, &said, args...)
		if status != want {
			t.Fatalf("%v: status %d: %s", args, status, &said)
		}
		return out
	}
	train := []string{"train", "--preset", "tiny.toml", "--lean"}
	stderr := &trigger{text: "step 75: return", f: func() {
		var refused strings.Builder
		if status, _ := pgrlab(t, d, &refused, "pack", "stopped", "--out", "a.pgrpack"); status != cli.StatusUsage || !strings.HasSuffix(refused.String(), "stopped: its lab is at work: pgrlab stop stopped saves it and ends it\n") {
			t.Errorf("at work: status %d: %s", status, &refused)
		}
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}}
	if status, _ := pgrlab(t, d, stderr, append(train, "--steps", "10000000", "--out", "stopped")...); status != cli.StatusTerminated {
		t.Fatalf("status %d: %s", status, stderr)
	}
	do(0, append(train, "--out", "whole")...)
	do(0, append(train, "--steps", "95", "--task", "mine/pole.toml", "--out", "pole")...)
	do(0, append(train, "--task", "mine/pole.toml", "--out", "wholepole")...)
	do(0, append(train, "--steps", "95", "--out", "part")...)
	do(0, "pack", "stopped", "pole", "part", "--out", "a.pgrpack")
	if s := said.String(); strings.Contains(s, "D_syn") || !strings.Contains(s, "pole at step 95\n") || !strings.Contains(s, "pgrlab unpack a.pgrpack") {
		t.Errorf("pack says %s", s)
	}
	if err := os.RemoveAll("mine"); err != nil {
		t.Fatal(err)
	}
	list := do(0, "unpack", "a.pgrpack", "--list")
	if lines := strings.Split(list, "\n"); len(lines) != 5 || !slices.Equal(strings.Fields(lines[2])[:4], []string{"pole", "95/95", "file:pole", "pgr-curiosity"}) {
		t.Errorf("the list is %s", list)
	}
	if out := do(0, "unpack", "a.pgrpack", "--out", "there"); out != "there/stopped\nthere/pole\nthere/part\n" {
		t.Errorf("unpack prints %s", out)
	}
	do(2, "unpack", "a.pgrpack", "--out", "there")
	if want := "pgrlab: unpack a.pgrpack: run folder there/stopped holds something already: choose another one with --out\n"; said.String() != want {
		t.Errorf("where they are: %s", &said)
	}
	for part, whole := range map[string]string{"part": "whole", "pole": "wholepole"} {
		do(0, "train", "--resume", filepath.Join("there", part), "--steps", "150")
		if do(0, "journal", "canonical", filepath.Join("there", part)) != do(0, "journal", "canonical", whole) {
			t.Errorf("%s: another journal", part)
		}
	}
}

// Of a run that has saved D_syn its recipe is packed, which makes the same D_syn again, also after a change
// that had it made again at once. While D_syn is mixed, or of rollouts, it is packed itself.
func TestDsynIsPackedAsItsRecipe(t *testing.T) {
	d := setUp(t)
	var said strings.Builder
	do := func(args ...string) (out string) {
		t.Helper()
		said.Reset()
		status, out := pgrlab(t, d, &said, args...)
		if status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, &said)
		}
		return out
	}
	type packs struct {
		method string
		more   []string
		recipe bool
	}
	all := []packs{
		{"pgr-td", []string{"--at", "70:guidance=3!", "--set", "generator.roll=0", "--members", "2"}, true},
		{"pgr-reward", []string{"--at", "90:guidance=0!", "--set", "generator.roll=10"}, false},
	}
	if soaking() {
		all = append(all, packs{"pgr-curiosity", nil, true}, packs{"synther", nil, true}, packs{"pgr-vae", nil, true}, packs{"pgr-resample", nil, true}, packs{"resample", nil, true}, packs{"mbpo", nil, false})
	}
	for _, c := range all {
		train := append([]string{"train", "--preset", "tiny.toml", "--method", c.method}, c.more...)
		do(append(train, "--out", c.method)...)
		do(append(train, "--steps", "95", "--out", c.method+"-part")...)
		do("pack", c.method+"-part", "--out", c.method+".pgrpack")
		if packs := strings.Contains(said.String(), "its D_syn"); packs == c.recipe {
			t.Errorf("%s: %s", c.method, &said)
		}
		do("unpack", c.method+".pgrpack", "--out", "there")
		dir := filepath.Join("there", c.method+"-part")
		do("train", "--resume", dir, "--steps", "150")
		if strings.Contains(said.String(), "is not what it was") {
			t.Errorf("%s: %s", c.method, &said)
		}
		if do("journal", "canonical", dir) != do("journal", "canonical", c.method) {
			t.Errorf("%s: another journal", c.method)
		}
	}
}
