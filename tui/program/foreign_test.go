package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgrlab/core/run"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
)

// attack holds text that a terminal would execute or hide: a title, the clipboard, C1 control
// characters, a bell, reversed text, line breaks.
const attack = "\x1b]0;title\x07\x1b]52;c;QQ==\x1b\\\u009b2J\u202egnp\u2066\u2028\x7f\r\nnext"

// written finds text in the output of a command that must not reach a terminal.
func written(t *testing.T, what, text string) {
	t.Helper()
	for at, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) || r == utf8.RuneError {
			t.Errorf("%s writes %U: …%q…", what, r, text[max(0, at-40):min(len(text), at+40)])
			return
		}
	}
}

// poisoned returns v with an attack in every string, except for the strings without which the line
// could not be read at all.
func poisoned(v any, name string) any {
	switch v := v.(type) {
	case string:
		switch name {
		case "type", "class", "position", "at":
			return v
		}
		return v + attack
	case []any:
		for i := range v {
			v[i] = poisoned(v[i], name)
		}
	case map[string]any:
		for key := range v {
			v[key] = poisoned(v[key], key)
		}
	}
	return v
}

// People exchange runs: whatever the journal, the folder's name or the configuration of a run
// contains, no command writes text that a terminal would execute.
func TestNothingForeignReachesTheTerminal(t *testing.T) {
	d := setUp(t)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := "run " + attack
	begin := func(dir string, more ...string) {
		t.Helper()
		var stderr bytes.Buffer
		args := append([]string{"train", "--preset", "tiny.toml", "--threads", "1", "--at", "100:guidance=3!", "--out", dir}, more...)
		status, stdout := pgrlab(t, d, &stderr, args...)
		if status != cli.StatusDone {
			t.Fatalf("status %d: %s", status, stderr.String())
		}
		written(t, "train", stdout+stderr.String())
	}
	begin(dir)
	path := filepath.Join(dir, run.JournalName)
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for line := range strings.Lines(string(journal)) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(poisoned(fields, ""))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	for _, line := range []string{
		`{"type":"note","step":140,"text":ATTACK,"obs":{"by":ATTACK,"at":"140","sum":ATTACK}}`,
		`{"type":"knob","step":141,"id":9,"knob":ATTACK,"from":ATTACK,"to":ATTACK,"class":"batch","position":"141","hint":ATTACK,"obs":{"by":ATTACK,"ref":ATTACK}}`,
		`{"type":"planned","step":141,"at":"149","knob":ATTACK,"value":ATTACK,"by":ATTACK,"sum":ATTACK}`,
		`{"type":"pause","step":142,"reason":ATTACK,"by":ATTACK}`, `{"type":"resume","step":142,"by":ATTACK,"from":ATTACK}`,
		`{"type":"attached","step":142,"by":ATTACK}`, `{"type":"detached","step":142,"by":ATTACK,"reason":ATTACK}`,
		`{"type":"checkpoint","step":143,"obs":{"path":ATTACK,"position":"143","by":ATTACK,"error":ATTACK}}`,
		`{"type":"scores","step":143,"relevance":ATTACK,"min":1,"max":2,"mean":1,"quantiles":[1,2,3],ATTACK:7}`,
		`{"type":ATTACK,"step":144,"x":ATTACK,ATTACK:{ATTACK:3}}`,
		`{"type":"failed","step":145,"error":ATTACK}`,
	} {
		quoted, _ := json.Marshal(attack)
		b.WriteString(strings.ReplaceAll(line, "ATTACK", string(quoted)) + "\n")
		// Here JSON contains the characters unescaped.
		raw := strings.NewReplacer("\x1b", `\u001b`, "\x07", "", "\r", "", "\n", "", `\\`, "").Replace(attack)
		raw = `"` + strings.ReplaceAll(raw, `\`+"\u009b", "\u009b") + `"`
		if doubled := strings.ReplaceAll(line, "ATTACK", raw); json.Valid([]byte(doubled)) {
			b.WriteString(doubled + "\n")
		} else {
			t.Fatalf("%q is no JSON", doubled)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	odd := "odd" // a run with a foreign configuration
	begin(odd)
	doc, err := os.ReadFile(filepath.Join(odd, run.ConfigName))
	if err != nil {
		t.Fatal(err)
	}
	quoted := `"`
	for _, r := range "x" + attack {
		quoted += fmt.Sprintf(`\u%04x`, r)
	}
	quoted += `"`
	for _, field := range []string{"task", "method", "scale", "preset", "device"} {
		var lines []string
		for line := range strings.Lines(string(doc)) {
			if strings.HasPrefix(line, field+" = ") {
				line = field + " = " + quoted + "\n"
			}
			lines = append(lines, line)
		}
		os.Mkdir("odd-"+field, 0o755)
		os.WriteFile(filepath.Join("odd-"+field, run.ConfigName), []byte(strings.Join(lines, "")), 0o644)
		os.WriteFile(filepath.Join("odd-"+field, run.JournalName), b.Bytes(), 0o644)
	}
	os.WriteFile("wrong.toml", []byte(quoted+" = 1\n"), 0o644)
	os.WriteFile("worse.toml", []byte("task = \"\x1b]0;t\x07\"\n"), 0o644)
	commands := [][]string{
		{"report", dir}, {"report", dir, "--json"}, {"report", dir, "odd"}, {"report", dir, "--out", "out", "--figure", "curves"}, {"report", "."},
		{"card", dir}, {"replay", dir},
		{"journal", "canonical", dir}, {"journal", "diff", dir, "odd"}, {"journal", "canonical", "none " + attack},
		{"analyse", dir}, {"export", dir, "--weights", "w.npz"}, {"export", dir, "--format", "tensorboard"}, {"export", dir}, {"fork", dir, "--set", "guidance=4"},
		{"train", "--resume", dir}, {"train", "--preset", "tiny.toml", "--out", dir}, {"train", "--preset", "tiny.toml", "--schedule", dir, "--out", "s"},
		{"train", "--preset", "wrong.toml"}, {"train", "--preset", "worse.toml"}, {"train", "--preset", attack}, {"train", "--set", attack}, {"train", "--at", attack},
		{"preset", "show", dir + "/config.toml"}, {"preset", "show", attack}, {"list", attack}, {attack}, {"--" + attack},
		{"attach", dir}, {"stop", dir}, {"ps"}, {"ps", "--json"}, {"watch", "--policy", dir, "--size", "32x24", "--frames", "frames " + attack},
		{"sweep", attack}, {"trace", "--task", attack}, {"bench", attack},
	}
	for _, field := range []string{"task", "method", "scale", "preset", "device"} {
		name := "odd-" + field
		commands = append(commands, []string{"report", name}, []string{"card", name}, []string{"replay", name, "--plain"}, []string{"analyse", name},
			[]string{"train", "--resume", name}, []string{"train", "--preset", name + "/config.toml"}, []string{"preset", "show", name + "/config.toml"}, []string{"export", name, "--weights", "w.npz"})
	}
	for _, args := range commands {
		var stderr bytes.Buffer
		_, stdout := pgrlab(t, d, &stderr, args...)
		written(t, strings.Join(args, " ")+": stdout", stdout)
		written(t, strings.Join(args, " ")+": stderr", stderr.String())
		if stdout == "" && stderr.Len() == 0 && args[0] != "ps" {
			t.Errorf("%q says nothing at all", args)
		}
	}
	text, err := os.ReadFile("out/report.md")
	if err != nil {
		t.Error(err)
	}
	written(t, "report.md", string(text))

	d.Screen = func(ctx context.Context, o tui.Options) (tui.Outcome, error) {
		keys, typed := files(t)
		shown, out := files(t)
		o.Input, o.Output = keys, out
		var all strings.Builder
		read := make(chan struct{})
		go func() {
			defer close(read)
			buf := make([]byte, 1<<12)
			for {
				n, err := shown.Read(buf)
				if all.Write(buf[:n]); strings.Contains(string(buf[:n]), "failed") {
					typed.WriteString("status\nquit\n") // the whole journal was played
				}
				if err != nil {
					return
				}
			}
		}()
		outcome, err := tui.Run(ctx, o)
		out.Close()
		<-read
		written(t, "replay --plain", all.String())
		if !strings.Contains(all.String(), "title") {
			t.Errorf("it played %q", all.String())
		}
		return outcome, err
	}
	if status, _ := pgrlab(t, d, io.Discard, "replay", dir, "--plain", "--speed", "1000000"); status != cli.StatusDone {
		t.Errorf("replay: status %d", status)
	}
}

// files returns the ends of a pipe.
func files(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}
