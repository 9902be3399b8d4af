package program

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// Every file and every command of docs/data.md does what the page says.
func TestTheCommandsOfData(t *testing.T) {
	text, err := os.ReadFile("../../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := commandsOf(t, "data.md")
	d := setUp(t)
	table := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(text)
	if len(table) != 2 || len(lines) != 7 {
		t.Fatalf("%d files, %d commands", len(table), len(lines))
	}
	do := func(status int, words ...string) string {
		t.Helper()
		var said strings.Builder
		got, out := pgrlab(t, d, &said, words...)
		if got != status {
			t.Fatalf("%q: status %d, %s", words, got, &said)
		}
		return out + said.String()
	}
	for _, line := range lines {
		line, into, _ := strings.Cut(line, " > ")
		words := strings.Fields(line)[1:]
		if i := slices.Index(words, "5k"); i >= 0 {
			words[i] = "40"
		}
		switch words[0] {
		case "train":
			words = append(words, "--steps", "60", "--set", "start_steps=20", "--set", "evaluation.episodes=1")
		case "sweep":
			words = append(words, "--steps", "30", "--seeds", "0", "--jobs", "1", "--set", "evaluation.episodes=1")
		}
		if words[0] == "train" || words[0] == "sweep" {
			words = append(words, "--set", "agent.hidden=[16,16]")
		}
		if slices.Contains(words, "pgr-curiosity") {
			words = append(words, "--set", "generator_steps=10", "--set", "samples=50", "--set", "generator.width=32")
		}
		out := do(0, words...)
		if words[0] == "train" && slices.Contains(words, "--data") && !strings.Contains(out, "data: first.npz, ") {
			t.Errorf("%s: nothing about the data in %s", line, out)
		}
		if into != "" {
			if err := os.WriteFile(into, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if words[0] == "data" && (strings.Contains(out, "! ") || !strings.Contains(out, "60 rows of 5 numbers observed and 1 of an action")) {
			t.Errorf("%s: %s", line, out)
		}
	}
	seeded, err := os.ReadFile(filepath.Join("runs/seeded", run.JournalName))
	if err != nil || !strings.Contains(string(seeded), `"type":"data","step":0,"file":"first.npz","format":"npz","sha256":"`) {
		t.Errorf("%v: no line of data in %.600s", err, seeded)
	}
	do(0, "dream", "runs/seeded", "--once", "--out", "dreamt", "--set", "curiosity.warmup=20", "--set", "evaluation.analysed_rows=16")
	dreamt, err := os.ReadFile(filepath.Join("dreamt", run.JournalName))
	if err != nil || strings.Contains(string(dreamt), `"type":"data"`) {
		t.Errorf("%v: a dream takes rows again that are among those of its run: %.600s", err, dreamt)
	}
	preset, err := os.ReadFile("tiny.toml")
	if err == nil {
		err = os.WriteFile("data.toml", append(preset, "\n"+string(table[1])...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}

	// With data of either kind the journal is the same in two parts. The file is needed for pinned
	// ones alone, and a run with another file is refused.
	for _, mode := range []string{"seed", "pinned"} {
		of := []string{"train", "--preset", "data.toml", "--set", "data.mode=" + mode, "--set", "data.pretrain=20"}
		do(0, append(of, "--out", mode)...)
		do(0, append(of, "--out", mode+"-part", "--steps", "95")...)
		do(0, "fork", mode+"-part@95", "--set", "ratio=0.25", "--steps", "120", "--out", mode+"-fork")
		do(0, "train", "--resume", mode+"-part", "--steps", "150")
		if do(0, "journal", "canonical", mode) != do(0, "journal", "canonical", mode+"-part") {
			t.Errorf("%s: another journal in two parts", mode)
		}
		do(0, "train", "--resume", mode+"-fork")
	}
	do(0, "export", "seed", "--buffer", "real", "--out", "seed.npz")
	if out := do(0, "data", "check", "seed.npz"); !strings.Contains(out, "npz: 210 rows") {
		t.Errorf("what a run with data exports: %s", out)
	}
	if card := do(0, "card", "pinned"); !strings.Contains(card, "first.npz:0.5 --pretrain 20") {
		t.Errorf("the card is %s", card)
	}
	if out := do(2, "train", "--preset", "data.toml", "--method", "ppo"); !strings.Contains(out, "data are for learners of batches") && !strings.Contains(out, "chooses among actions") {
		t.Errorf("with PPO: %s", out)
	}
	if err := os.WriteFile("first.npz", []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	do(0, "train", "--resume", "seed-part", "--steps", "160")
	if out := do(1, "train", "--resume", "pinned-part", "--steps", "160"); strings.Count(strings.TrimSpace(out), "\n") > 1 || !strings.Contains(out, "first.npz") {
		t.Errorf("without the file: %s", out)
	}
}
