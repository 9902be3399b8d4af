package program

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every command of docs/results.md does what the page says, its Python is Python, and it has every key of what
// is exported.
func TestTheCommandsOfResults(t *testing.T) {
	text, err := os.ReadFile("../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := commandsOf(t, "results.md")
	d := setUp(t)
	for _, line := range lines {
		line, into, _ := strings.Cut(line, " > ")
		args := strings.Fields(line)[1:]
		for i, w := range args {
			if w == "demo" {
				args[i] = "tiny.toml"
			}
		}
		var said strings.Builder
		status, out := pgrlab(t, d, &said, args...)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", line, status, &said)
		}
		if into != "" {
			if err := os.WriteFile(into, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for file, want := range map[string]string{
		"a.csv": "step,timestamp,", "upload.py": `runs/a"]`, "policy.onnx": "action_env", "model/policy.onnx": "action_env", "policy.safetensors": "last_fc_layer.weight",
		"model/policy.safetensors": "last_fc_layer.weight", "model/config.toml": "task = ", "a.cast": `{"version":2,"width":120,"height":36,`,
	} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q (%v)", file, want, err)
		}
	}
	if found, err := os.ReadDir("tb/a"); err != nil || len(found) == 0 {
		t.Errorf("no numbers for TensorBoard (%v)", err)
	}
	for file, n := range map[string]int{"real.npz": 7, "syn.npz": 6} {
		archive, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(archive.File) != n {
			t.Errorf("%s has %d arrays", file, len(archive.File))
		}
		for _, f := range archive.File {
			if name, is := strings.CutSuffix(f.Name, ".npy"); !is || !strings.Contains(string(text), "\n| `"+name+"` |") {
				t.Errorf("the page lacks the key %s of %s", f.Name, file)
			}
		}
		archive.Close()
	}
	aHubCard(t)
	var said strings.Builder
	if status, _ := pgrlab(t, d, &said, "export", "runs/a", "--onnx", "--step", "150", "--out", "saved.onnx"); status != 0 {
		t.Fatal(&said)
	}
	left, err := os.ReadFile("policy.onnx")
	saved, other := os.ReadFile("saved.onnx")
	if err := errors.Join(err, other); err != nil || !bytes.Equal(left, saved) {
		t.Errorf("the policy in the last checkpoint is another one than that of the end (%v)", err)
	}
	os.WriteFile("README.md", []byte("# mine\n"), 0o644)
	said.Reset()
	if status, _ := pgrlab(t, d, &said, "card", "runs/a", "--hub", "--out", "."); status != 2 || !strings.Contains(said.String(), "it has a README.md that is no card of pgrlab") {
		t.Errorf("status %d: %s", status, &said)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here to read the Python of the page")
	}
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(text, -1)
	for _, b := range blocks {
		if out, err := exec.Command(python, "-c", "import sys; compile(sys.argv[1], 'page', 'exec')", string(b[1])).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", b[1], out)
		}
	}
	if len(blocks) != 3 {
		t.Errorf("%d blocks of Python", len(blocks))
	}
}

// aHubCard checks the folder model: its card has the fields that cards of huggingface_sb3 have, with the numbers
// of results.json.
func aHubCard(t *testing.T) {
	t.Helper()
	card, err := os.ReadFile("model/README.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(card), "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatalf("no metadata: %.200s", card)
	}
	text, err := os.ReadFile("model/results.json")
	if err != nil {
		t.Fatal(err)
	}
	var results map[string]any
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatal(err)
	}
	keys := []string{"eval_datetime", "is_deterministic", "mean_reward", "n_eval_episodes", "std_reward"}
	if !slices.Equal(slices.Sorted(maps.Keys(results)), keys) || results["n_eval_episodes"] != 2.0 || results["is_deterministic"] != true {
		t.Errorf("%s", text)
	}
	value := fmt.Sprintf("%.2f +/- %.2f", results["mean_reward"], results["std_reward"])
	kind := map[string]any{"type": "reinforcement-learning", "name": "reinforcement-learning"}
	want := map[string]any{
		"library_name": "pgrlab",
		"tags":         []any{"cartpole-swingup", "reinforcement-learning", "deep-reinforcement-learning", "pgr"},
		"model-index": []any{map[string]any{"name": "pgr-curiosity", "results": []any{map[string]any{
			"task": kind, "dataset": map[string]any{"type": "cartpole-swingup", "name": "cartpole-swingup"},
			"metrics": []any{map[string]any{"type": "mean_reward", "value": value, "name": "mean_reward", "verified": false}},
		}}}},
	}
	y := yamlLines{lines: strings.Split(strings.TrimSuffix(parts[1], "\n"), "\n")}
	if got := y.value(t, 0); !reflect.DeepEqual(got, want) || len(y.lines) > 0 {
		t.Errorf("the metadata are %v, want %v; left %q", got, want, y.lines)
	}
	for _, want := range []string{"**" + value + "** is the mean and the standard deviation of the returns of 2 episodes of this one policy", "It is not over seeds", "pgrlab train"} {
		if !strings.Contains(parts[2], want) {
			t.Errorf("the card lacks %q: %s", want, parts[2])
		}
	}
	if home, err := os.Getwd(); err != nil || strings.Contains(string(card), home) {
		t.Errorf("the card names a folder of this machine (%v): %s", err, card)
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		out, err := exec.Command(python, "-c", "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.argv[1])))", parts[1]).Output()
		if err != nil {
			continue // without a module for YAML the reader below has to do
		}
		var got any
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, any(want)) {
			t.Errorf("PyYAML reads %s (%v)", out, err)
		}
	}
}

// yamlLines reads a part of YAML: mappings and sequences in block style, indented by two, and scalars that are
// plain or quoted as in JSON.
type yamlLines struct{ lines []string }

var (
	yamlKey   = regexp.MustCompile(`^([a-z_-]+):(?: (.+))?$`)
	yamlPlain = regexp.MustCompile(`^-?[a-z0-9][a-z0-9_ ./+-]*$`)
)

// value reads the mapping or sequence at an indentation.
func (y *yamlLines) value(t *testing.T, indent int) any {
	t.Helper()
	at := strings.Repeat(" ", indent)
	if len(y.lines) > 0 && strings.HasPrefix(y.lines[0], at+"- ") {
		var all []any
		for len(y.lines) > 0 && strings.HasPrefix(y.lines[0], at+"- ") {
			item := strings.TrimPrefix(y.lines[0], at+"- ")
			if yamlKey.MatchString(item) {
				y.lines[0] = at + "  " + item
				all = append(all, y.value(t, indent+2))
			} else {
				y.lines = y.lines[1:]
				all = append(all, yamlScalar(t, item))
			}
		}
		return all
	}
	all := map[string]any{}
	for len(y.lines) > 0 && strings.HasPrefix(y.lines[0], at) {
		m := yamlKey.FindStringSubmatch(strings.TrimPrefix(y.lines[0], at))
		if m == nil {
			break
		}
		y.lines = y.lines[1:]
		if _, twice := all[m[1]]; twice {
			t.Errorf("the key %s stands twice", m[1])
		}
		switch {
		case m[2] != "":
			all[m[1]] = yamlScalar(t, m[2])
		case len(y.lines) > 0 && strings.HasPrefix(y.lines[0], at+"- "): // a sequence may be as far left as its key
			all[m[1]] = y.value(t, indent)
		default:
			all[m[1]] = y.value(t, indent+2)
		}
	}
	return all
}

func yamlScalar(t *testing.T, text string) any {
	t.Helper()
	var quoted string
	switch {
	case text == "true" || text == "false":
		return text == "true"
	case strings.HasPrefix(text, `"`):
		if err := json.Unmarshal([]byte(text), &quoted); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return quoted
	case !yamlPlain.MatchString(text) || strings.Contains(text, ": ") || strings.Contains(text, " #"):
		t.Errorf("%q is no plain scalar", text)
	}
	return text
}
